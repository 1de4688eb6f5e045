// A keyed hash of throttle keys. Clients choose the keys, so they must not be able to choose
// collisions: words are added to secret ones and multiplied pairwise (the NH construction of UMAC),
// and the sum of the products once more, which for any two keys collides with odds of about 2^-60
// over the choice of the secret. Fast: 32 bytes cost three multiplications. Immutable; safe on any
// thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/check.h"
#include "base/rng.h"

namespace penstock::store::memory {

inline constexpr std::size_t kKeyBytesMax = 512;  // the contract of the API

class KeyHash {
 public:
  explicit KeyHash(std::uint64_t seed) noexcept {
    Rng rng(seed);
    for (std::uint64_t& word : secret_) word = rng();
  }

  [[gnu::always_inline]] std::uint64_t operator()(std::string_view key) const noexcept {
    PENSTOCK_CHECK(key.size() <= kKeyBytesMax);
    const std::size_t size = key.size();
    const char* at = key.data();
    Wide sum = 0;
    // The last words may overlap those before: with the size, they still tell every byte.
    if (size >= 16) [[likely]] {
      const char* const last = at + size - 16;
      const std::uint64_t* secret = secret_.data() + 2;
      sum += product(read<std::uint64_t>(at), read<std::uint64_t>(at + 8), secret);
      for (at += 16, secret += 2; at < last; at += 16, secret += 2) [[unlikely]] {
        sum += product(read<std::uint64_t>(at), read<std::uint64_t>(at + 8), secret);
      }
      sum += product(read<std::uint64_t>(last), read<std::uint64_t>(last + 8), secret);
    } else if (size >= 8) {
      sum += product(read<std::uint64_t>(at), read<std::uint64_t>(at + size - 8), &secret_[2]);
    } else if (size >= 4) {
      sum += product(read<std::uint32_t>(at), read<std::uint32_t>(at + size - 4), &secret_[2]);
    } else if (size > 0) {
      const std::uint64_t ends = read<std::uint8_t>(at) | read<std::uint8_t>(at + size - 1) << 8;
      sum += product(ends, read<std::uint8_t>(at + size / 2), &secret_[2]);
    }
    // With the size, since keys of different sizes may give the same words.
    const Wide folded = static_cast<Wide>(static_cast<std::uint64_t>(sum) + (secret_[0] + size)) *
                        (static_cast<std::uint64_t>(sum >> 64) + secret_[1]);
    return static_cast<std::uint64_t>(folded) ^ static_cast<std::uint64_t>(folded >> 64);
  }

 private:
  __extension__ using Wide = unsigned __int128;

  template <class Word>
  static Word read(const char* bytes) noexcept {
    Word word;
    std::memcpy(&word, bytes, sizeof word);
    return word;
  }
  static Wide product(std::uint64_t a, std::uint64_t b, const std::uint64_t* secret) noexcept {
    return static_cast<Wide>(a + secret[0]) * (b + secret[1]);
  }

  std::array<std::uint64_t, kKeyBytesMax / 8 + 2> secret_;  // the first two are for the sum
};

}  // namespace penstock::store::memory
