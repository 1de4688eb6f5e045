// ASCII letters and digits, whatever the locale. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace penstock {

inline constexpr char kHexDigits[] = "0123456789abcdef";

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

constexpr char ascii_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

// True if the texts differ at most in the case of their letters.
constexpr bool ascii_equal(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (ascii_lower(a[i]) != ascii_lower(b[i])) return false;
  }
  return true;
}

}  // namespace penstock
