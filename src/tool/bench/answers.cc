#include "tool/bench/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/ascii.h"
#include "base/check.h"

namespace penstock::tool::bench {

PatternCounter::PatternCounter(std::string_view pattern) noexcept : pattern_(pattern) {
  PENSTOCK_CHECK(pattern.size() <= kPatternBytesMax);
  for (std::size_t i = 1, border = 0; i < pattern.size(); ++i) {
    while (border > 0 && pattern[i] != pattern[border]) border = borders_[border - 1];
    if (pattern[i] == pattern[border]) ++border;
    borders_[i] = static_cast<std::uint8_t>(border);
  }
}

void PatternCounter::feed(std::string_view piece) noexcept {
  if (pattern_.empty()) return;
  for (const char c : piece) {
    while (matched_ > 0 && c != pattern_[matched_]) matched_ = borders_[matched_ - 1];
    if (c == pattern_[matched_]) ++matched_;
    if (matched_ == pattern_.size()) {
      ++count_;
      matched_ = borders_[matched_ - 1];
    }
  }
}

Progress HttpAnswers::refuse(std::string_view problem) {
  problem_ = problem;
  return {.status = Progress::Status::invalid};
}

Progress HttpAnswers::next(std::span<char> bytes) {
  if (in_body_) return take_body(bytes, 0);
  const std::string_view text(bytes.data(), bytes.size());
  // The end may have been cut: its first three bytes can be among those looked at before.
  const std::size_t end = text.find("\r\n\r\n", scanned_ > 3 ? scanned_ - 3 : 0);
  if (end == text.npos) {
    scanned_ = text.size();
    if (scanned_ > kHeadBytesMax) return refuse("the head of an answer is too long");
    return {};
  }
  scanned_ = 0;
  if (!take_head(text.substr(0, end + 2))) return {.status = Progress::Status::invalid};
  if (code_ < 200) return {.used = end + 4};  // 1xx: the answer proper follows
  in_body_ = true;
  return take_body(bytes, end + 4);
}

bool HttpAnswers::take_head(std::string_view head) {
  closes_ = false;
  length_seen_ = false;
  body_ = Body::none;
  left_ = 0;
  problem_.clear();
  good_entries_.begin();
  const bool is_http = head.starts_with("HTTP/1.1 ") || head.starts_with("HTTP/1.0 ");
  const char* const digits = head.data() + 9;
  if (!is_http || head.size() < 14 ||
      std::from_chars(digits, digits + 3, code_).ptr != digits + 3 || code_ < 100 ||
      code_ >= kCodes) {
    refuse("an answer is not HTTP/1.1");
    return false;
  }
  if (head[7] == '0') closes_ = true;
  std::size_t at = head.find('\n') + 1;
  while (at < head.size()) {
    const std::size_t line_end = head.find('\n', at);
    std::string_view line = head.substr(at, line_end - at);
    at = line_end + 1;
    // Only these three say anything about where the answer ends.
    const char first = line.empty() ? '\0' : static_cast<char>(line[0] | 0x20);
    if (first != 'c' && first != 't') continue;
    const std::size_t colon = line.find(':');
    if (colon == line.npos) continue;
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) {
      value.remove_prefix(1);
    }
    while (!value.empty() && (value.back() == ' ' || value.back() == '\r')) value.remove_suffix(1);
    if (!take_header(line.substr(0, colon), value)) return false;
  }
  if (code_ == 204 || code_ == 304) {
    body_ = Body::none;
  } else if (code_ >= 200 && body_ == Body::none && !length_seen_) {
    refuse("an answer has neither Content-Length nor the chunked coding");
    return false;
  }
  if (body_ == Body::chunked) chunks_ = {};
  return true;
}

bool HttpAnswers::take_header(std::string_view name, std::string_view value) {
  if (ascii_equal(name, "content-length")) {
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), left_);
    if (error != std::errc() || end != value.data() + value.size() || value.empty()) {
      refuse("an answer has a Content-Length that is no number");
      return false;
    }
    length_seen_ = true;
    if (body_ == Body::none) body_ = Body::sized;
  } else if (ascii_equal(name, "transfer-encoding")) {
    if (!ascii_equal(value, "chunked")) {
      refuse("an answer has a coding that is not known here");
      return false;
    }
    body_ = Body::chunked;
  } else if (ascii_equal(name, "connection")) {
    if (ascii_equal(value, "close")) closes_ = true;
    if (ascii_equal(value, "keep-alive")) closes_ = false;
  }
  return true;
}

void HttpAnswers::see(std::string_view data) {
  good_entries_.feed(data);
  if (code_ >= 400 && code_ != 429 && problem_.size() < kProblemBytesMax) {
    problem_.append(data.substr(0, kProblemBytesMax - problem_.size()));
  }
}

Progress HttpAnswers::take_body(std::span<char> bytes, std::size_t used) {
  const std::span<char> rest = bytes.subspan(used);
  bool done = body_ == Body::none;
  if (body_ == Body::sized) {
    const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(left_, rest.size()));
    see({rest.data(), taken});
    left_ -= taken;
    used += taken;
    done = left_ == 0;
  } else if (body_ == Body::chunked) {
    const auto step = chunks_.decode(rest.data(), rest.size(), rest.data(), SIZE_MAX / 2);
    see({rest.data(), step.written});
    used += step.read;
    done = step.status == wire::ChunkDecoder::Status::done;
    if (!done && step.status != wire::ChunkDecoder::Status::need_more) {
      return refuse("a chunk of an answer is malformed");
    }
  }
  if (!done) return {.used = used};
  in_body_ = false;
  good_ = good_entries_.count();
  return {.status = Progress::Status::answer, .used = used};
}

Progress RespAnswers::next(std::span<char> bytes) {
  using Status = wire::RespReplyParser::Status;
  switch (parser_.parse({bytes.data(), bytes.size()})) {
    case Status::need_more:
      return {};
    case Status::invalid:
      problem_ = fmt::format("an answer is not RESP: {}", parser_.problem());
      return {.status = Progress::Status::invalid};
    case Status::reply:
      break;
  }
  const std::span<const wire::RespValue> values = parser_.values();
  const wire::RespValue& reply = values[0];
  if (reply.type == wire::RespType::error) {
    code_ = kRespError;
    problem_ = reply.text;
  } else if (reply.type == wire::RespType::array && values.size() == 6 &&
             values[1].type == wire::RespType::integer) {
    code_ = values[1].integer == 0 ? kRespAllowed : kRespLimited;
  } else {
    code_ = kRespOther;
  }
  const std::size_t used = parser_.consumed();
  if (hello_ > 0) {
    --hello_;
    if (code_ == kRespError) return {.status = Progress::Status::invalid, .used = used};
    return {.used = used};
  }
  return {.status = Progress::Status::answer, .used = used};
}

}  // namespace penstock::tool::bench
