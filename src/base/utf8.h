// Well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing past U+10FFFF). Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace penstock {

// Length of the sequence at the front of `text` (not empty), 0 when it is not well-formed.
constexpr std::size_t utf8_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto tail = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xc2) return 0;
  if (lead < 0xe0) return text.size() >= 2 && tail(1) ? 2 : 0;
  if (lead < 0xf0) {
    if (text.size() < 3 || !tail(1) || !tail(2)) return 0;
    if (lead == 0xe0 && byte(1) < 0xa0) return 0;   // overlong
    if (lead == 0xed && byte(1) >= 0xa0) return 0;  // surrogate
    return 3;
  }
  if (lead > 0xf4 || text.size() < 4 || !tail(1) || !tail(2) || !tail(3)) return 0;
  if (lead == 0xf0 && byte(1) < 0x90) return 0;   // overlong
  if (lead == 0xf4 && byte(1) >= 0x90) return 0;  // past U+10FFFF
  return 4;
}

}  // namespace penstock
