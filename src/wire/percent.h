// Percent-encoding of RFC 3986, and the hex digits it is made of. Pure.
#pragma once

#include <string>
#include <string_view>

namespace penstock::wire {

constexpr int hex_digit(char c) noexcept {  // -1: it is none
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Characters that never need encoding.
constexpr bool is_unreserved(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

// Appends `%` and two upper-case digits.
void append_percent_byte(std::string& out, char byte);

// Replaces `out` by the bytes that `text` stands for; `+` is itself. False when a `%` is not
// followed by two hex digits; `out` is then unspecified.
[[nodiscard]] bool percent_decode(std::string_view text, std::string& out);

// Appends `text` with all but unreserved characters encoded, so that it is one segment of a path or
// one value of a query.
void append_percent_encoded(std::string& out, std::string_view text);

}  // namespace penstock::wire
