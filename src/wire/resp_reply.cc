#include "wire/resp_reply.h"

#include <algorithm>

#include "wire/resp_request.h"

namespace penstock::wire {
namespace {

constexpr std::size_t kLineBytesMax = 64 * 1024;  // an error that quotes a command fits

RespType aggregate_type(char type) noexcept {
  switch (type) {
    case '~':
      return RespType::set;
    case '%':
    case '|':
      return RespType::map;
    case '>':
      return RespType::push;
    default:
      return RespType::array;
  }
}

bool is_double(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '+' || c == '-' || c == '.' ||
           c == 'E';
  });
}

bool is_big_number(std::string_view text) noexcept {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

void RespReplyParser::begin() noexcept {
  values_.clear();
  texts_.clear();
  open_.clear();
  at_ = 0;
  scanned_ = 0;
  done_ = false;
}

RespReplyParser::Status RespReplyParser::invalid(std::string_view problem) noexcept {
  failed_ = true;
  problem_ = problem;
  return Status::invalid;
}

RespReplyParser::Status RespReplyParser::parse(std::string_view bytes) {
  if (failed_) return Status::invalid;
  if (done_) begin();
  do {
    switch (take_value(bytes)) {
      case Step::taken:
        break;
      case Step::invalid:
        return Status::invalid;
      case Step::need_more:
        return bytes.size() > limits_.bytes ? invalid("the reply is too large") : Status::need_more;
    }
    close_complete();
  } while (!open_.empty() || values_.empty());
  for (std::size_t i = 0; i < values_.size(); ++i) {
    values_[i].text = bytes.substr(texts_[i].at, texts_[i].size);
  }
  done_ = true;
  return Status::reply;
}

RespReplyParser::Step RespReplyParser::take_value(std::string_view bytes) {
  const auto refuse = [this](std::string_view problem) {
    invalid(problem);
    return Step::invalid;
  };
  const std::size_t end = bytes.find('\n', at_ + scanned_);
  if (end == bytes.npos) {
    scanned_ = bytes.size() - at_;
    return scanned_ > kLineBytesMax ? refuse("a line is too long") : Step::need_more;
  }
  if (end - at_ > kLineBytesMax) return refuse("a line is too long");
  if (end - at_ < 2 || bytes[end - 1] != '\r') return refuse("a line does not end with CR LF");
  const std::string_view text = bytes.substr(at_ + 1, end - at_ - 2);
  if (text.find('\r') != text.npos) return refuse("a line holds a CR");
  const Slice slice{at_ + 1, text.size()};
  switch (const char type = bytes[at_]) {
    case '+':
      return add({.type = RespType::simple}, slice, end + 1);
    case '-':
      return add({.type = RespType::error}, slice, end + 1);
    case '(':
      if (!is_big_number(text)) return refuse("a big number is not one");
      return add({.type = RespType::simple}, slice, end + 1);
    case ',':
      if (!is_double(text)) return refuse("a double is not one");
      return add({.type = RespType::number}, slice, end + 1);
    case ':': {
      RespValue value{.type = RespType::integer};
      if (!parse_resp_integer(text, value.integer)) return refuse("an integer is not one");
      return add(value, {}, end + 1);
    }
    case '#':
      if (text != "t" && text != "f") return refuse("a boolean is neither t nor f");
      return add({.type = RespType::boolean, .integer = text == "t" ? 1 : 0}, {}, end + 1);
    case '_':
      if (!text.empty()) return refuse("a null has a value");
      return add({.type = RespType::null}, {}, end + 1);
    case '$':
    case '=':
    case '!':
      return take_bulk(bytes, text, end + 1, type);
    case '*':
    case '~':
    case '%':
    case '>':
    case '|':
      return take_aggregate(text, end + 1, type);
    default:
      return refuse("a value of an unknown type");
  }
}

RespReplyParser::Step RespReplyParser::take_bulk(std::string_view bytes, std::string_view header,
                                                 std::size_t body, char type) {
  std::int64_t size = 0;
  if (header == "-1" && type == '$') return add({.type = RespType::null}, {}, body);
  if (!parse_resp_integer(header, size) || size < 0 ||
      static_cast<std::uint64_t>(size) > limits_.bytes) {
    invalid("a string has a bad length");
    return Step::invalid;
  }
  const auto length = static_cast<std::size_t>(size);
  if (bytes.size() - body < length + 2) return Step::need_more;
  Slice text{body, length};
  const bool ends = bytes[body + length] == '\r' && bytes[body + length + 1] == '\n';
  if (!ends || (type == '=' && (length < 4 || bytes[body + 3] != ':'))) {
    invalid(ends ? "a verbatim string has no format" : "a string does not end with CR LF");
    return Step::invalid;
  }
  if (type == '=') text = {body + 4, length - 4};
  return add({.type = type == '!' ? RespType::error : RespType::bulk}, text, body + length + 2);
}

RespReplyParser::Step RespReplyParser::take_aggregate(std::string_view header, std::size_t body,
                                                      char type) {
  std::int64_t count = 0;
  if (header == "-1" && type == '*') return add({.type = RespType::null}, {}, body);
  if (!parse_resp_integer(header, count) || count < 0 ||
      static_cast<std::uint64_t>(count) > limits_.values) {
    invalid("an aggregate has a bad length");
    return Step::invalid;
  }
  const bool pairs = type == '%' || type == '|';
  if (pairs) count *= 2;
  if (open_.size() == limits_.depth) {
    invalid("the reply is nested too deep");
    return Step::invalid;
  }
  open_.push_back({values_.size(), static_cast<std::size_t>(count) + 1, type == '|'});
  const Step step = add({.type = aggregate_type(type), .integer = count}, {}, body);
  return step;
}

RespReplyParser::Step RespReplyParser::add(RespValue value, Slice text, std::size_t end) {
  if (values_.size() == limits_.values || end > limits_.bytes) {
    invalid("the reply is too large");
    return Step::invalid;
  }
  values_.push_back(value);
  texts_.push_back(text);
  at_ = end;
  scanned_ = 0;
  // An aggregate counts itself first, so that an empty one closes like any other.
  if (!open_.empty()) --open_.back().left;
  return Step::taken;
}

void RespReplyParser::close_complete() noexcept {
  while (!open_.empty() && open_.back().left == 0) {
    const Open closed = open_.back();
    open_.pop_back();
    if (closed.attribute) {
      values_.resize(closed.index);
      texts_.resize(closed.index);
      continue;  // not one of the values that the one outside waits for
    }
    values_[closed.index].next = values_.size() - closed.index;
    if (!open_.empty()) --open_.back().left;
  }
}

}  // namespace penstock::wire
