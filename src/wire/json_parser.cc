#include <algorithm>
#include <cstring>
#include <string>

#include "base/ascii.h"
#include "base/utf8.h"
#include "wire/json.h"

namespace penstock::wire {
namespace {

// A document is at most 16 MiB of text, and a node takes at least one byte of it.
constexpr std::size_t kTextBytesMax = std::size_t{1} << 31;
// Up to this many members keys are compared pairwise; more are sorted first.
constexpr std::size_t kPairwiseKeysMax = 16;

std::size_t put_utf8(char* out, std::uint32_t code) noexcept {
  if (code < 0x80) {
    out[0] = static_cast<char>(code);
    return 1;
  }
  if (code < 0x800) {
    out[0] = static_cast<char>(0xc0 | (code >> 6));
    out[1] = static_cast<char>(0x80 | (code & 0x3f));
    return 2;
  }
  if (code < 0x10000) {
    out[0] = static_cast<char>(0xe0 | (code >> 12));
    out[1] = static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out[2] = static_cast<char>(0x80 | (code & 0x3f));
    return 3;
  }
  out[0] = static_cast<char>(0xf0 | (code >> 18));
  out[1] = static_cast<char>(0x80 | ((code >> 12) & 0x3f));
  out[2] = static_cast<char>(0x80 | ((code >> 6) & 0x3f));
  out[3] = static_cast<char>(0x80 | (code & 0x3f));
  return 4;
}

// Bytes that a string copies as they are: printable ASCII but for quote and backslash.
bool is_plain(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

}  // namespace

// Recursive descent with an explicit depth; one pass, no backtracking.
class JsonParser {
 public:
  explicit JsonParser(std::string_view text) noexcept
      : begin_(text.data()), at_(text.data()), end_(text.data() + text.size()) {}

  Result<JsonDocument> parse() {
    if (static_cast<std::size_t>(end_ - begin_) > kTextBytesMax) {
      return fail(ErrorKind::invalid, "JSON text is too long");
    }
    // A guess that fits the API's requests: about one node per 16 bytes.
    document_.nodes_.reserve(static_cast<std::size_t>(end_ - begin_) / 16 + 4);
    skip_space();
    if (!parse_value({}, 0)) return std::unexpected(std::move(error_));
    skip_space();
    if (at_ != end_) {
      problem("unexpected text after the value");
      return std::unexpected(std::move(error_));
    }
    return std::move(document_);
  }

 private:
  bool problem(std::string_view what) {
    error_ = Error{.kind = ErrorKind::invalid,
                   .what = "not valid JSON: " + std::string(what) + " at byte " +
                           std::to_string(at_ - begin_)};
    return false;
  }

  void skip_space() noexcept {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }

  bool parse_value(std::string_view key, std::size_t depth) {
    if (at_ == end_) return problem("a value is missing");
    const std::size_t node = document_.nodes_.size();
    if (node == kJsonValuesMax) {
      error_ = Error{.kind = ErrorKind::too_large,
                     .what = "JSON has at most " + std::to_string(kJsonValuesMax) + " values"};
      return false;
    }
    const char* start = at_;
    document_.nodes_.push_back({.key = key});
    bool ok = false;
    switch (*at_) {
      case '{':
        ok = parse_object(node, depth);
        break;
      case '[':
        ok = parse_array(node, depth);
        break;
      case '"': {
        std::string_view text;
        ok = parse_string(text);
        document_.nodes_[node].type = JsonType::string;
        document_.nodes_[node].text = text;
        break;
      }
      case 't':
        ok = parse_word("true", node, JsonType::boolean, true);
        break;
      case 'f':
        ok = parse_word("false", node, JsonType::boolean, false);
        break;
      case 'n':
        ok = parse_word("null", node, JsonType::null, false);
        break;
      default:
        ok = parse_number(node);
    }
    if (!ok) return false;
    document_.nodes_[node].after = static_cast<std::uint32_t>(document_.nodes_.size());
    document_.nodes_[node].raw = {start, static_cast<std::size_t>(at_ - start)};
    return true;
  }

  bool parse_word(std::string_view word, std::size_t node, JsonType type, bool truth) {
    if (static_cast<std::size_t>(end_ - at_) < word.size() ||
        std::memcmp(at_, word.data(), word.size()) != 0) {
      return problem("a value is malformed");
    }
    at_ += word.size();
    document_.nodes_[node].type = type;
    document_.nodes_[node].truth = truth;
    return true;
  }

  bool parse_number(std::size_t node) {
    document_.nodes_[node].type = JsonType::number;
    if (*at_ == '-') ++at_;
    if (at_ == end_ || !is_digit(*at_)) return problem("a value is malformed");
    if (*at_ == '0') {
      ++at_;
    } else {
      skip_digits();
    }
    if (at_ != end_ && *at_ == '.') {
      ++at_;
      if (at_ == end_ || !is_digit(*at_)) return problem("a digit is missing after the point");
      skip_digits();
    }
    if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
      ++at_;
      if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
      if (at_ == end_ || !is_digit(*at_)) return problem("a digit is missing in the exponent");
      skip_digits();
    }
    return true;
  }

  void skip_digits() noexcept {
    while (at_ != end_ && is_digit(*at_)) ++at_;
  }

  bool parse_array(std::size_t node, std::size_t depth) {
    document_.nodes_[node].type = JsonType::array;
    if (depth == kJsonDepthMax) return problem("nested too deeply");
    ++at_;
    skip_space();
    if (at_ != end_ && *at_ == ']') {
      ++at_;
      return true;
    }
    for (;;) {
      skip_space();
      if (!parse_value({}, depth + 1)) return false;
      ++document_.nodes_[node].count;
      skip_space();
      if (at_ == end_) return problem("an array does not end");
      const char c = *at_;
      if (c != ',' && c != ']') return problem("expected , or ]");
      ++at_;
      if (c == ']') return true;
    }
  }

  bool parse_object(std::size_t node, std::size_t depth) {
    document_.nodes_[node].type = JsonType::object;
    if (depth == kJsonDepthMax) return problem("nested too deeply");
    ++at_;
    skip_space();
    if (at_ != end_ && *at_ == '}') {
      ++at_;
      return true;
    }
    for (;;) {
      skip_space();
      if (at_ == end_ || *at_ != '"') return problem("a key is missing");
      std::string_view key;
      if (!parse_string(key)) return false;
      skip_space();
      if (at_ == end_ || *at_ != ':') return problem("expected :");
      ++at_;
      skip_space();
      if (!parse_value(key, depth + 1)) return false;
      ++document_.nodes_[node].count;
      skip_space();
      if (at_ == end_) return problem("an object does not end");
      const char c = *at_;
      if (c != ',' && c != '}') return problem("expected , or }");
      ++at_;
      if (c == '}') return keys_are_unique(node);
    }
  }

  bool keys_are_unique(std::size_t node) {
    const auto& nodes = document_.nodes_;
    keys_.clear();
    for (std::size_t child = node + 1; child < nodes.size(); child = nodes[child].after) {
      keys_.push_back(nodes[child].key);
    }
    std::string_view twice;
    bool found = false;
    if (keys_.size() <= kPairwiseKeysMax) {
      for (std::size_t i = 1; i < keys_.size() && !found; ++i) {
        found = std::find(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(i),
                          keys_[i]) != keys_.begin() + static_cast<std::ptrdiff_t>(i);
        twice = keys_[i];
      }
    } else {
      std::ranges::sort(keys_);
      const auto same = std::ranges::adjacent_find(keys_);
      found = same != keys_.end();
      if (found) twice = *same;
    }
    if (!found) return true;
    std::string what = "the key ";
    append_json_string(what, twice.substr(0, 64));  // enough to recognise it
    return problem(what + " stands twice in the object that ends");
  }

  bool parse_string(std::string_view& out) {
    ++at_;
    const char* start = at_;
    for (;;) {
      while (at_ != end_ && is_plain(*at_)) ++at_;
      if (at_ == end_) return problem("a string does not end");
      if (*at_ == '"') {
        out = {start, static_cast<std::size_t>(at_ - start)};
        ++at_;
        return true;
      }
      if (*at_ == '\\') return parse_escaped_string(start, out);
      if (!skip_utf8()) return false;
    }
  }

  bool skip_utf8() {
    if (static_cast<unsigned char>(*at_) < 0x20) return problem("a control character in a string");
    const std::size_t length = utf8_length({at_, end_});
    if (length == 0) return problem("a string is not UTF-8");
    at_ += length;
    return true;
  }

  // The rare path: the string has escapes, so its text is built apart from the input. Unescaping
  // never makes a string longer, so the distance to the closing quote bounds the buffer.
  bool parse_escaped_string(const char* start, std::string_view& out) {
    const char* close = at_;
    while (close != end_ && *close != '"') close += (*close == '\\' && close + 1 != end_) ? 2 : 1;
    const auto room = static_cast<std::size_t>(std::min(close, end_) - start);
    auto buffer = std::make_unique_for_overwrite<char[]>(room + 1);
    std::size_t length = 0;
    const auto copy = [&](const char* from) {
      const auto bytes = static_cast<std::size_t>(at_ - from);
      std::memcpy(buffer.get() + length, from, bytes);
      length += bytes;
    };
    copy(start);
    for (;;) {
      const char* from = at_;
      while (at_ != end_ && is_plain(*at_)) ++at_;
      copy(from);
      if (at_ == end_) return problem("a string does not end");
      if (*at_ == '"') break;
      if (*at_ == '\\') {
        ++at_;
        if (!parse_escape(buffer.get(), length)) return false;
        continue;
      }
      from = at_;
      if (!skip_utf8()) return false;
      copy(from);
    }
    ++at_;
    out = {buffer.get(), length};
    document_.unescaped_.push_back(std::move(buffer));
    return true;
  }

  bool parse_escape(char* buffer, std::size_t& length) {
    if (at_ == end_) return problem("a string does not end");
    static constexpr std::string_view kNames = "\"\\/bfnrt";
    static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char c = *at_++;
    if (const auto i = kNames.find(c); i != std::string_view::npos) {
      buffer[length++] = kMeanings[i];
      return true;
    }
    if (c != 'u') return problem("an unknown escape");
    std::uint32_t code = 0;
    if (!parse_hex4(code)) return false;
    if (code >= 0xdc00 && code <= 0xdfff) return problem("half a surrogate pair");
    if (code >= 0xd800 && code <= 0xdbff) {
      if (end_ - at_ < 2 || at_[0] != '\\' || at_[1] != 'u')
        return problem("half a surrogate pair");
      at_ += 2;
      std::uint32_t low = 0;
      if (!parse_hex4(low)) return false;
      if (low < 0xdc00 || low > 0xdfff) return problem("half a surrogate pair");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    length += put_utf8(buffer + length, code);
    return true;
  }

  bool parse_hex4(std::uint32_t& code) {
    if (end_ - at_ < 4) return problem("a \\u escape is cut short");
    code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = *at_;
      std::uint32_t digit = 0;
      if (is_digit(c)) {
        digit = static_cast<std::uint32_t>(c - '0');
      } else if (c >= 'a' && c <= 'f') {
        digit = static_cast<std::uint32_t>(c - 'a') + 10;
      } else if (c >= 'A' && c <= 'F') {
        digit = static_cast<std::uint32_t>(c - 'A') + 10;
      } else {
        return problem("a \\u escape needs four hexadecimal digits");
      }
      code = code * 16 + digit;
    }
    return true;
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  JsonDocument document_;
  std::vector<std::string_view> keys_;  // scratch of keys_are_unique
  Error error_{};
};

Result<JsonDocument> parse_json(std::string_view text) { return JsonParser(text).parse(); }

}  // namespace penstock::wire
