// The currencies of ISO 4217 and how many digits stand behind their decimal point. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace penstock::core {

// Digits that any currency has at most; amounts of different currencies are compared in this unit.
inline constexpr int kFractionDigitsMax = 4;

struct Currency {
  std::string_view code;  // "EUR"; of the table, lives for ever
  int digits = 2;

  friend bool operator==(const Currency&, const Currency&) = default;
};

// List one of ISO 4217 as of 2026, without funds, metals and test codes that have no minor unit.
// Codes are upper case.
std::optional<Currency> currency_of(std::string_view code) noexcept;

}  // namespace penstock::core
