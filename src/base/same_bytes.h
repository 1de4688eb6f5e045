// memcmp() == 0 of short texts of one size, without a call and with few branches: what a table asks
// once it has found something by a hash or a first byte. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace penstock {

// At least one byte. Words may overlap: with the size, they still tell every byte.
[[gnu::always_inline]] inline bool same_bytes(const char* left, const char* right,
                                              std::size_t size) noexcept {
  const auto differ = [&]<class Word>(Word, std::size_t at) {
    Word words[2];
    std::memcpy(&words[0], left + at, sizeof(Word));
    std::memcpy(&words[1], right + at, sizeof(Word));
    return words[0] ^ words[1];
  };
  constexpr std::uint64_t kEight{};
  constexpr std::uint32_t kFour{};
  if (size > 32) {
    for (std::size_t at = 0; at + 16 < size; at += 16) {
      if ((differ(kEight, at) | differ(kEight, at + 8)) != 0) return false;
    }
    return (differ(kEight, size - 16) | differ(kEight, size - 8)) == 0;
  }
  if (size >= 16) {
    return (differ(kEight, 0) | differ(kEight, 8) | differ(kEight, size - 16) |
            differ(kEight, size - 8)) == 0;
  }
  if (size >= 8) return (differ(kEight, 0) | differ(kEight, size - 8)) == 0;
  if (size >= 4) return (differ(kFour, 0) | differ(kFour, size - 4)) == 0;
  return left[0] == right[0] && left[size / 2] == right[size / 2] &&
         left[size - 1] == right[size - 1];
}

}  // namespace penstock
