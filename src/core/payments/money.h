// Amounts of money as whole numbers of the currency's smallest unit. No fractions, no rounding.
// Pure.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/payments/currency.h"

namespace penstock::core {

// Digits of an amount in all: 10^18 - 1 of the smallest unit fits into 64 bits with room to spare,
// and is ten quadrillion euros.
inline constexpr int kAmountDigitsMax = 18;

struct Money {
  std::int64_t minor = 0;  // cents, yen, fils
  Currency currency;

  friend bool operator==(const Money&, const Money&) = default;
};

// ISO C++ knows no such number; GCC and clang do.
__extension__ using Int128 = __int128;

// A bound that is not tied to a currency: a number of 10^-4, which divides every smallest unit.
struct Threshold {
  Int128 ten_thousandths = 0;

  friend bool operator==(const Threshold&, const Threshold&) = default;
};

// "125.50": digits, and behind a point at most as many as the currency has; more than nothing. The
// error's `what` is a predicate without a name, for the caller to put its field before.
Result<Money> parse_money(std::string_view text, const Currency& currency);
std::string format_money(const Money& money);  // with all digits of its currency

// The same form, zero allowed, at most `digits` behind the point.
Result<Threshold> parse_threshold(std::string_view text, int digits = kFractionDigitsMax);
std::string format_threshold(const Threshold& threshold);  // the shortest form

bool is_above(const Money& money, const Threshold& threshold) noexcept;

}  // namespace penstock::core
