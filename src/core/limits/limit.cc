#include "core/limits/limit.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>

namespace penstock::core {
namespace {

constexpr std::int64_t kMicrosPerSecond = 1'000'000;
constexpr std::int64_t kRateMicrosMax = kMicrosPerSecond * 1'000'000'000;  // nine decimals

Rate lowest_terms(std::int64_t tokens, std::int64_t micros) {
  const std::int64_t divisor = std::gcd(tokens, micros);
  return {.tokens = tokens / divisor, .micros = micros / divisor};
}

struct Decimal {
  std::string_view whole;
  std::string_view fraction;
  std::int64_t exponent = 0;
};

bool digit(char c) { return c >= '0' && c <= '9'; }

std::string_view take_digits(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, digit);
  const std::string_view digits(text.begin(), end);
  text.remove_prefix(digits.size());
  return digits;
}

// The grammar of a JSON number without its minus sign.
std::optional<Decimal> split(std::string_view text) {
  Decimal decimal;
  decimal.whole = take_digits(text);
  if (decimal.whole.empty() || (decimal.whole.size() > 1 && decimal.whole[0] == '0')) return {};
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    decimal.fraction = take_digits(text);
    if (decimal.fraction.empty()) return {};
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    const std::string_view digits = take_digits(text);
    if (digits.empty()) return {};
    for (const char c : digits) {
      // Far beyond what any text of a request can balance with zeros.
      decimal.exponent = std::min<std::int64_t>(decimal.exponent * 10 + (c - '0'), 100'000'000);
    }
    if (negative) decimal.exponent = -decimal.exponent;
  }
  if (!text.empty()) return {};
  return decimal;
}

// value * 10^exponent with no zero at the end of the value, so that neither "1.000" has decimals
// nor "1e9" many digits.
struct Mantissa {
  std::int64_t value = 0;
  std::int64_t exponent = 0;
  bool too_long = false;
};

Mantissa mantissa_of(const Decimal& decimal) {
  constexpr std::size_t kDigitsMax = 18;  // below 10^9 with nine decimals
  std::string digits(decimal.whole);
  digits += decimal.fraction;
  digits.erase(0, digits.find_first_not_of('0'));
  const std::size_t length = digits.find_last_not_of('0') + 1;
  Mantissa mantissa{.too_long = length > kDigitsMax};
  mantissa.exponent = decimal.exponent - static_cast<std::int64_t>(decimal.fraction.size()) +
                      static_cast<std::int64_t>(digits.size() - length);
  for (const char c : digits.substr(0, std::min(length, kDigitsMax))) {
    mantissa.value = mantissa.value * 10 + (c - '0');
  }
  return mantissa;
}

// Beyond this a part's rate would leave the range that the arithmetic is exact in (state.h); it is
// rounded down to the slowest rate there is.
constexpr std::int64_t kMicrosMax = 1'000'000'000'000'000;

}  // namespace

Result<Rate> parse_rate(std::string_view text) {
  constexpr std::string_view kField = "refillRate";
  constexpr std::string_view kTooMany = "must be at most 1000000000 tokens per second";
  if (text.starts_with('-')) return invalid_field(kField, "must be greater than 0");
  const std::optional<Decimal> decimal = split(text);
  if (!decimal) return invalid_field(kField, "must be a decimal number");
  Mantissa mantissa = mantissa_of(*decimal);
  if (mantissa.value == 0) return invalid_field(kField, "must be greater than 0");
  if (mantissa.exponent > 9) return invalid_field(kField, kTooMany);
  if (mantissa.exponent < -kRateDecimalsMax) {
    return invalid_field(kField, "must have at most 9 decimals");
  }
  if (mantissa.too_long) return invalid_field(kField, kTooMany);
  std::int64_t micros = kMicrosPerSecond;
  for (; mantissa.exponent < 0; ++mantissa.exponent) micros *= 10;
  for (; mantissa.exponent > 0; --mantissa.exponent) {
    if (mantissa.value > kRatePerSecondMax) return invalid_field(kField, kTooMany);
    mantissa.value *= 10;
  }
  const Rate rate = lowest_terms(mantissa.value, micros);
  if (!valid(rate)) return invalid_field(kField, kTooMany);
  return rate;
}

Result<Rate> rate_per(std::int64_t count, Seconds period) {
  if (period < Seconds{1} || period > kRatePeriodMax) {
    return invalid_field("period", "must be from 1 to 1000000000 seconds");
  }
  if (count < 1) return invalid_field("count", "must be greater than 0");
  if (count / period.count() > kRatePerSecondMax) {
    return invalid_field("count", "must be at most 1000000000 per second");
  }
  const Rate rate = lowest_terms(count, period.count() * kMicrosPerSecond);
  if (!valid(rate)) return invalid_field("count", "must be at most 1000000000 per second");
  return rate;
}

bool valid(const Rate& rate) noexcept {
  return rate.tokens >= 1 && rate.micros >= 1 && rate.micros <= kRateMicrosMax &&
         rate.tokens <= rate.micros * (kRatePerSecondMax / kMicrosPerSecond) &&
         std::gcd(rate.tokens, rate.micros) == 1;
}

Result<Limit> make_limit(LimitType type, std::int64_t capacity, Rate refill, Seconds window) {
  // The texts below spell out the constants; a test holds them together.
  if (capacity < 1 || capacity > kCapacityMax) {
    return invalid_field("capacity", "must be from 1 to 1000000000000");
  }
  if (is_bucket(type) && !valid(refill)) {
    return invalid_field("refillRate", "must be greater than 0 and at most 1000000000");
  }
  if (window < kLimitWindowMin || window > kLimitWindowMax) {
    return invalid_field("windowSeconds", "must be from 1 to 31622400");
  }
  return Limit{.type = type, .capacity = capacity, .refill = refill, .window = window};
}

Limit share_of(const Limit& limit, std::size_t nodes) noexcept {
  if (nodes <= 1) return limit;
  const auto parts = static_cast<std::int64_t>(std::min<std::size_t>(nodes, 1'000'000));
  Limit share = limit;
  share.capacity = std::max<std::int64_t>(limit.capacity / parts, 1);
  if (!is_bucket(limit.type)) return share;
  const std::int64_t common = std::gcd(limit.refill.tokens, parts);
  share.refill.tokens = limit.refill.tokens / common;
  const std::int64_t slower = parts / common;
  if (limit.refill.micros > kMicrosMax / slower) {
    // Fewer tokens in the same time instead of the same in more, rounded down but not to nothing.
    share.refill = {.tokens = std::max<std::int64_t>(share.refill.tokens / slower, 1),
                    .micros = limit.refill.micros};
    return share;
  }
  share.refill.micros = limit.refill.micros * slower;
  const std::int64_t terms = std::gcd(share.refill.tokens, share.refill.micros);
  share.refill = {.tokens = share.refill.tokens / terms, .micros = share.refill.micros / terms};
  return share;
}

}  // namespace penstock::core
