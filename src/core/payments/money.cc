#include "core/payments/money.h"

#include <algorithm>

namespace penstock::core {
namespace {

constexpr std::int64_t power_of_ten(int exponent) noexcept {
  std::int64_t power = 1;
  for (; exponent > 0; --exponent) power *= 10;
  return power;
}

bool all_digits(std::string_view text) noexcept {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// The number times 10^digits.
Result<std::int64_t> parse_decimal(std::string_view text, int digits) {
  const auto refuse = [](std::string what) { return fail(ErrorKind::invalid, std::move(what)); };
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction =
      point == std::string_view::npos ? std::string_view{} : text.substr(point + 1);
  const bool open_end = point != std::string_view::npos && fraction.empty();
  if (whole.empty() || open_end || !all_digits(whole) || !all_digits(fraction) ||
      (whole.size() > 1 && whole.front() == '0')) {
    return refuse("must be a decimal number like 125.50");
  }
  if (static_cast<int>(fraction.size()) > digits) {
    return refuse("must have at most " + std::to_string(digits) + " digits behind the point");
  }
  if (static_cast<int>(whole.size()) + digits > kAmountDigitsMax) {
    return refuse("must have at most " + std::to_string(kAmountDigitsMax) + " digits in all");
  }
  std::int64_t number = 0;
  for (const char c : whole) number = number * 10 + (c - '0');
  for (const char c : fraction) number = number * 10 + (c - '0');
  return number * power_of_ten(digits - static_cast<int>(fraction.size()));
}

}  // namespace

Result<Money> parse_money(std::string_view text, const Currency& currency) {
  const std::int64_t minor = PENSTOCK_TRY(parse_decimal(text, currency.digits));
  if (minor == 0) return fail(ErrorKind::invalid, "must be more than nothing");
  return Money{.minor = minor, .currency = currency};
}

std::string format_money(const Money& money) {
  std::string text = std::to_string(money.minor);
  const auto digits = static_cast<std::size_t>(money.currency.digits);
  if (digits == 0) return text;
  if (text.size() <= digits) text.insert(0, digits + 1 - text.size(), '0');
  text.insert(text.size() - digits, 1, '.');
  return text;
}

Result<Threshold> parse_threshold(std::string_view text, int digits) {
  const std::int64_t number = PENSTOCK_TRY(parse_decimal(text, digits));
  return Threshold{static_cast<Int128>(number) * power_of_ten(kFractionDigitsMax - digits)};
}

std::string format_threshold(const Threshold& threshold) {
  constexpr std::int64_t kOne = power_of_ten(kFractionDigitsMax);
  std::string text = std::to_string(static_cast<std::int64_t>(threshold.ten_thousandths / kOne));
  std::string fraction =
      std::to_string(static_cast<std::int64_t>(threshold.ten_thousandths % kOne));
  fraction.insert(0, static_cast<std::size_t>(kFractionDigitsMax) - fraction.size(), '0');
  while (fraction.ends_with('0')) fraction.pop_back();
  if (!fraction.empty()) text += "." + fraction;
  return text;
}

bool is_above(const Money& money, const Threshold& threshold) noexcept {
  const std::int64_t scale = power_of_ten(kFractionDigitsMax - money.currency.digits);
  return static_cast<Int128>(money.minor) * scale > threshold.ten_thousandths;
}

}  // namespace penstock::core
