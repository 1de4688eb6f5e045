#include "wire/resp_request.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace penstock::wire {
namespace {

// `*` or `$`, a sign, 19 digits, CR LF, and some more that would still be wrong.
constexpr std::size_t kHeaderBytesMax = 32;
// A parser that met a huge request gives the memory back.
constexpr std::size_t kArgumentsKept = 64;

bool is_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

char escaped(char c) noexcept {
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'b':
      return '\b';
    case 'a':
      return '\a';
    default:
      return c;
  }
}

// The part of a word that stands in double quotes, from behind the first one. False: the quotes do
// not close, or something sticks to the closing one.
bool take_double_quoted(std::string_view line, std::size_t& i, std::string& out) {
  for (; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\\' && i + 3 < line.size() && line[i + 1] == 'x' && hex_value(line[i + 2]) >= 0 &&
        hex_value(line[i + 3]) >= 0) {
      out += static_cast<char>(hex_value(line[i + 2]) * 16 + hex_value(line[i + 3]));
      i += 3;
    } else if (c == '\\' && i + 1 < line.size()) {
      out += escaped(line[++i]);
    } else if (c == '"') {
      ++i;
      return i == line.size() || is_space(line[i]);
    } else {
      out += c;
    }
  }
  return false;
}

bool take_single_quoted(std::string_view line, std::size_t& i, std::string& out) {
  for (; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\\' && i + 1 < line.size() && line[i + 1] == '\'') {
      out += '\'';
      ++i;
    } else if (c == '\'') {
      ++i;
      return i == line.size() || is_space(line[i]);
    } else {
      out += c;
    }
  }
  return false;
}

// One word, from its first character on. Quotes may begin inside it and end it.
bool take_word(std::string_view line, std::size_t& i, std::string& out) {
  while (i < line.size() && !is_space(line[i])) {
    const char c = line[i++];
    if (c == '"') return take_double_quoted(line, i, out);
    if (c == '\'') return take_single_quoted(line, i, out);
    out += c;
  }
  return true;
}

}  // namespace

bool parse_resp_integer(std::string_view text, std::int64_t& value) noexcept {
  if (text.empty()) return false;
  const std::size_t first = text[0] == '-' ? 1 : 0;
  if (first == text.size()) return false;
  if (text[first] == '0' && text.size() > 1) return false;  // "-0", "007"
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ec == std::errc{} && parsed.ptr == end;
}

void RespRequestParser::begin() noexcept {
  if (slices_.capacity() > kArgumentsKept) {
    std::vector<Slice>().swap(slices_);
    std::vector<std::string_view>().swap(arguments_);
  }
  slices_.clear();
  arguments_.clear();
  at_ = 0;
  scanned_ = 0;
  expected_ = 0;
  bulk_ = kNoBulk;
  in_array_ = false;
  done_ = false;
}

RespRequestParser::Status RespRequestParser::invalid(std::string problem) {
  failed_ = true;
  problem_ = std::move(problem);
  return Status::invalid;
}

RespRequestParser::Status RespRequestParser::parse(std::string_view bytes,
                                                   const RespRequestLimits& limits) {
  if (failed_) return Status::invalid;
  if (done_) begin();
  if (bytes.empty()) return Status::need_more;
  if (!in_array_) {
    if (bytes[0] != '*') return parse_inline(bytes, limits);
    const Status counted = parse_count(bytes, limits);
    if (counted != Status::request || expected_ == 0) {
      done_ = counted == Status::request;
      return counted;
    }
    in_array_ = true;
  }
  const Status status = parse_arguments(bytes, limits);
  if (status != Status::request) return status;
  for (const Slice& slice : slices_) arguments_.push_back(bytes.substr(slice.at, slice.size));
  done_ = true;
  return status;
}

// The number of a header that begins at at_, its first byte left out.
RespRequestParser::Line RespRequestParser::find_header(std::string_view bytes,
                                                       std::string_view& text) const noexcept {
  const std::size_t from = at_ + 1;
  const std::size_t end = std::min(bytes.size(), at_ + kHeaderBytesMax);
  for (std::size_t i = from; i < end; ++i) {
    if (bytes[i] != '\r') continue;
    if (i + 1 == bytes.size()) return Line::need_more;
    text = bytes.substr(from, i - from);
    // CR without LF makes a number that no reader takes.
    if (bytes[i + 1] != '\n') text = bytes.substr(from, i + 1 - from);
    return Line::found;
  }
  return bytes.size() - at_ >= kHeaderBytesMax ? Line::too_long : Line::need_more;
}

RespRequestParser::Status RespRequestParser::parse_count(std::string_view bytes,
                                                         const RespRequestLimits& limits) {
  std::string_view text;
  switch (find_header(bytes, text)) {
    case Line::need_more:
      return Status::need_more;
    case Line::too_long:
      return invalid("too big mbulk count string");
    case Line::found:
      break;
  }
  std::int64_t count = 0;
  if (!parse_resp_integer(text, count)) return invalid("invalid multibulk length");
  if (count > std::int64_t{limits.arguments}) {
    return invalid(limits.for_strangers ? "unauthenticated multibulk length"
                                        : "invalid multibulk length");
  }
  at_ += 1 + text.size() + 2;
  expected_ = count > 0 ? static_cast<std::uint32_t>(count) : 0;
  return Status::request;
}

RespRequestParser::Status RespRequestParser::parse_arguments(std::string_view bytes,
                                                             const RespRequestLimits& limits) {
  while (expected_ > 0) {
    if (bulk_ == kNoBulk) {
      if (at_ == bytes.size()) return Status::need_more;
      if (bytes[at_] != '$') {
        const char got = bytes[at_] >= ' ' && bytes[at_] <= '~' ? bytes[at_] : '?';
        return invalid(std::string("expected '$', got '") + got + "'");
      }
      std::string_view text;
      switch (find_header(bytes, text)) {
        case Line::need_more:
          return Status::need_more;
        case Line::too_long:
          return invalid("too big bulk count string");
        case Line::found:
          break;
      }
      std::int64_t size = 0;
      if (!parse_resp_integer(text, size) || size < 0) return invalid("invalid bulk length");
      if (size > std::int64_t{limits.argument_bytes}) {
        return invalid(limits.for_strangers ? "unauthenticated bulk length"
                                            : "invalid bulk length");
      }
      at_ += 1 + text.size() + 2;
      bulk_ = size;
      if (at_ + static_cast<std::size_t>(size) + 2 > limits.request_bytes) {
        return invalid("too big request");
      }
    }
    const auto size = static_cast<std::size_t>(bulk_);
    if (bytes.size() - at_ < size + 2) return Status::need_more;
    if (bytes[at_ + size] != '\r' || bytes[at_ + size + 1] != '\n') {
      return invalid("invalid bulk length");
    }
    slices_.push_back({static_cast<std::uint32_t>(at_), static_cast<std::uint32_t>(size)});
    at_ += size + 2;
    bulk_ = kNoBulk;
    --expected_;
  }
  return Status::request;
}

RespRequestParser::Status RespRequestParser::parse_inline(std::string_view bytes,
                                                          const RespRequestLimits& limits) {
  const std::size_t end = bytes.find('\n', scanned_);
  if (end == bytes.npos ? bytes.size() > limits.inline_bytes : end > limits.inline_bytes) {
    return invalid("too big inline request");
  }
  if (end == bytes.npos) {
    scanned_ = bytes.size();
    return Status::need_more;
  }
  std::string_view line = bytes.substr(0, end);
  if (line.ends_with('\r')) line.remove_suffix(1);
  bool too_many = false;
  if (!split(line.substr(0, line.find('\0')), limits.arguments, too_many)) {
    return invalid(too_many ? "too many arguments" : "unbalanced quotes in request");
  }
  at_ = end + 1;
  done_ = true;
  return Status::request;
}

bool RespRequestParser::split(std::string_view line, std::uint32_t arguments_max, bool& too_many) {
  unquoted_.clear();
  for (std::size_t i = 0;;) {
    while (i < line.size() && is_space(line[i])) ++i;
    if (i == line.size()) break;
    if (slices_.size() == arguments_max) {
      too_many = true;
      return false;
    }
    const std::size_t from = unquoted_.size();
    if (!take_word(line, i, unquoted_)) return false;
    slices_.push_back(
        {static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(unquoted_.size() - from)});
  }
  const std::string_view words = unquoted_;
  for (const Slice& slice : slices_) arguments_.push_back(words.substr(slice.at, slice.size));
  return true;
}

}  // namespace penstock::wire
