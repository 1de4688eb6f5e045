// Division by a number that is known long before: a multiplication and a shift, a third of the time
// that the processor's own division takes. Pure.
#pragma once

#include <bit>
#include <cstdint>

#include "core/limits/limit.h"

namespace penstock::core {

// What makes quotients by one divisor cheap. As made without one it says nothing, and divide() does
// it the long way.
class Reciprocal {
 public:
  constexpr Reciprocal() noexcept = default;
  constexpr explicit Reciprocal(std::uint64_t divisor) noexcept {
    if (divisor == 0 || divisor >> 63 != 0) return;
    // With 2^(s-1) < divisor <= 2^s, the factor is the next whole number above 2^(63+s) / divisor,
    // which is below 2^64. It is too large by at most 1, so the quotient of a dividend below 2^63
    // by less than 2^63 / 2^(63+s) <= 1 / divisor: never enough to reach the next whole number.
    shift_ = static_cast<unsigned>(std::bit_width(divisor - 1));
    factor_ = static_cast<std::uint64_t>((Wide{1} << (63 + shift_)) / divisor) + 1;
  }

  // `dividend` / `divisor`, rounded down; the divisor is the one that this was made with.
  [[gnu::always_inline]] constexpr std::uint64_t divide(std::uint64_t dividend,
                                                        std::uint64_t divisor) const noexcept {
    if (factor_ == 0 || dividend >> 63 != 0) [[unlikely]]
      return dividend / divisor;
    return static_cast<std::uint64_t>(static_cast<Wide>(2 * dividend) * factor_ >> 64) >> shift_;
  }

 private:
  __extension__ using Wide = unsigned __int128;

  std::uint64_t factor_ = 0;  // 0 = none
  unsigned shift_ = 0;
};

// Those of a rate, for whoever decides by it more than once.
struct RateReciprocals {
  Reciprocal tokens = {};
  Reciprocal micros = {};

  static constexpr RateReciprocals of(const Rate& rate) noexcept {
    return {.tokens = Reciprocal(static_cast<std::uint64_t>(rate.tokens)),
            .micros = Reciprocal(static_cast<std::uint64_t>(rate.micros))};
  }
};

}  // namespace penstock::core
