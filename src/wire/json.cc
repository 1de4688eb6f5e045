#include "wire/json.h"

#include <charconv>

#include "base/ascii.h"
#include "base/check.h"
#include "base/iso8601.h"
#include "base/utf8.h"

namespace penstock::wire {

std::string_view to_string(JsonType type) noexcept {
  switch (type) {
    case JsonType::null:
      return "null";
    case JsonType::boolean:
      return "a boolean";
    case JsonType::number:
      return "a number";
    case JsonType::string:
      return "a string";
    case JsonType::array:
      return "an array";
    case JsonType::object:
      return "an object";
  }
  return "unknown";
}

JsonValue JsonDocument::root() const noexcept {
  return {this, 0, static_cast<std::uint32_t>(nodes_.size())};
}

JsonType JsonValue::type() const noexcept { return document_->nodes_[node_].type; }
bool JsonValue::boolean() const noexcept { return document_->nodes_[node_].truth; }
std::string_view JsonValue::string() const noexcept { return document_->nodes_[node_].text; }
std::string_view JsonValue::raw() const noexcept { return document_->nodes_[node_].raw; }
std::string_view JsonValue::key() const noexcept { return document_->nodes_[node_].key; }
std::size_t JsonValue::size() const noexcept { return document_->nodes_[node_].count; }

std::optional<std::int64_t> JsonValue::integer() const noexcept {
  if (type() != JsonType::number) return std::nullopt;
  const std::string_view text = raw();
  std::int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || rest != text.data() + text.size()) return std::nullopt;
  return number;
}

JsonValue JsonValue::first() const noexcept {
  const auto& node = document_->nodes_[node_];
  return node.count == 0 ? JsonValue() : JsonValue(document_, node_ + 1, node.after);
}

JsonValue JsonValue::next() const noexcept {
  const std::uint32_t after = document_->nodes_[node_].after;
  return after >= end_ ? JsonValue() : JsonValue(document_, after, end_);
}

JsonValue JsonValue::find(std::string_view key) const noexcept {
  if (type() != JsonType::object) return {};
  for (JsonValue member = first(); member; member = member.next()) {
    if (member.key() == key) return member;
  }
  return {};
}

namespace {}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t done = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\') {
      ++i;
      continue;
    }
    out.append(text, done, i - done);
    if (byte >= 0x80) {
      const std::size_t length = utf8_length(text.substr(i));
      if (length == 0) {
        out += "\\ufffd";
        ++i;
      } else {
        out.append(text, i, length);
        i += length;
      }
      done = i;
      continue;
    }
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        out += "\\u00";
        out += kHexDigits[byte >> 4];
        out += kHexDigits[byte & 0xf];
    }
    done = ++i;
  }
  out.append(text, done, text.size() - done);
  out += '"';
}

void JsonWriter::separate() {
  if (comma_) out_ += ',';
  comma_ = true;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  out_ += bracket;
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  out_ += bracket;
  comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  out_ += '"';
  out_ += name;
  out_ += "\":";
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  append_json_string(out_, text);
  return *this;
}

JsonWriter& JsonWriter::value(std::int64_t number) {
  separate();
  char digits[24];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
  PENSTOCK_CHECK(error == std::errc{});
  out_.append(digits, end);
  return *this;
}

JsonWriter& JsonWriter::value(bool truth) {
  separate();
  out_ += truth ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::value(Instant instant) {
  separate();
  out_ += '"';
  append_instant(out_, instant);
  out_ += '"';
  return *this;
}

JsonWriter& JsonWriter::null() { return raw("null"); }

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

}  // namespace penstock::wire
