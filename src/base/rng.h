// A seeded source of chance (xoshiro256**, seeded through splitmix64): the same seed gives the same
// numbers on every machine. Not for secrets. One thread at a time.
#pragma once

#include <bit>
#include <cstdint>

#include "base/check.h"

namespace penstock {

// One step of splitmix64: a bijective mix, good enough to spread seeds and to hash integers.
constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// `random` spread evenly over [0, bound). Multiply-shift: the bias is below bound / 2^64.
constexpr std::uint64_t scale64(std::uint64_t random, std::uint64_t bound) noexcept {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(random) * bound) >> 64);
}

class Rng {
 public:
  using result_type = std::uint64_t;

  explicit constexpr Rng(std::uint64_t seed) noexcept {
    for (std::uint64_t& word : state_) {
      word = mix64(seed);
      seed += 0x9e3779b97f4a7c15;
    }
  }

  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return ~result_type{0}; }

  constexpr result_type operator()() noexcept {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform in [0, bound), bound > 0.
  constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    PENSTOCK_CHECK(bound > 0);
    return scale64((*this)(), bound);
  }

  // Uniform in [low, high], low <= high.
  constexpr std::int64_t between(std::int64_t low, std::int64_t high) noexcept {
    PENSTOCK_CHECK(low <= high);
    // Unsigned, since the whole range of int64 has more steps than int64 can count.
    const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    const std::uint64_t step = span == max() ? (*this)() : below(span + 1);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + step);
  }

 private:
  std::uint64_t state_[4]{};
};

}  // namespace penstock
