#include "wire/json_digest.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "base/rng.h"

namespace penstock::wire {
namespace {

// What kind of value follows: [1] and 1 and "1" differ.
enum Tag : std::uint64_t { kNull = 1, kFalse, kTrue, kNumber, kString, kArray, kObject, kKey };

// A decimal number as digits and an exponent, so that 1.50, 15e-1 and 1.5 are one: sign, digits
// without zeros at either end, and the power of ten of the last one.
struct Decimal {
  std::string digits;  // empty = zero
  std::int64_t exponent = 0;
  bool negative = false;
};

Decimal decimal_of(std::string_view raw) {
  Decimal decimal;
  std::size_t at = 0;
  if (at < raw.size() && raw[at] == '-') {
    decimal.negative = true;
    ++at;
  }
  bool fraction = false;
  for (; at < raw.size() && raw[at] != 'e' && raw[at] != 'E'; ++at) {
    if (raw[at] == '.') {
      fraction = true;
      continue;
    }
    decimal.digits += raw[at];
    if (fraction) --decimal.exponent;
  }
  if (at < raw.size()) {
    ++at;
    const bool down = at < raw.size() && raw[at] == '-';
    if (at < raw.size() && (raw[at] == '-' || raw[at] == '+')) ++at;
    std::int64_t power = 0;
    // Beyond this no digit of a number that anyone means is left.
    constexpr std::int64_t kPowerMax = 1'000'000'000'000;
    for (; at < raw.size(); ++at) power = std::min(kPowerMax, power * 10 + (raw[at] - '0'));
    decimal.exponent += down ? -power : power;
  }
  while (!decimal.digits.empty() && decimal.digits.back() == '0') {
    decimal.digits.pop_back();
    ++decimal.exponent;
  }
  decimal.digits.erase(0, decimal.digits.find_first_not_of('0'));
  if (decimal.digits.empty()) return {};  // 0, -0 and 0e9 are one
  return decimal;
}

}  // namespace

void JsonDigester::mix(std::uint64_t word) noexcept {
  low_ = mix64(low_ ^ word);
  high_ = mix64(std::rotl(high_, 23) + word * 0x9e3779b97f4a7c15);
}

void JsonDigester::mix_text(std::uint64_t tag, std::string_view text) noexcept {
  mix(tag);
  mix(text.size());
  while (!text.empty()) {
    std::uint64_t word = 0;
    const std::size_t bytes = std::min(sizeof word, text.size());
    std::memcpy(&word, text.data(), bytes);
    mix(word);
    text.remove_prefix(bytes);
  }
}

void JsonDigester::mix_number(std::string_view raw) {
  const Decimal decimal = decimal_of(raw);
  mix_text(kNumber, decimal.digits);
  mix(static_cast<std::uint64_t>(decimal.exponent) * 2 + (decimal.negative ? 1 : 0));
}

void JsonDigester::mix_object(JsonValue object) {
  std::vector<JsonValue> members;
  members.reserve(object.size());
  for (JsonValue member = object.first(); member; member = member.next()) members.push_back(member);
  std::sort(members.begin(), members.end(),
            [](JsonValue a, JsonValue b) { return a.key() < b.key(); });
  mix(kObject);
  mix(members.size());
  for (const JsonValue member : members) {
    mix_text(kKey, member.key());
    add(member);
  }
}

JsonDigester& JsonDigester::add(JsonValue value) {
  switch (value.type()) {
    case JsonType::null:
      mix(kNull);
      break;
    case JsonType::boolean:
      mix(value.boolean() ? kTrue : kFalse);
      break;
    case JsonType::number:
      mix_number(value.raw());
      break;
    case JsonType::string:
      mix_text(kString, value.string());
      break;
    case JsonType::array:
      mix(kArray);
      mix(value.size());
      for (JsonValue each = value.first(); each; each = each.next()) add(each);
      break;
    case JsonType::object:
      mix_object(value);
      break;
  }
  return *this;
}

JsonDigester& JsonDigester::add(std::string_view text) {
  mix_text(kString, text);
  return *this;
}

JsonDigester& JsonDigester::add(std::int64_t number) {
  mix(kNumber);
  mix(static_cast<std::uint64_t>(number));
  return *this;
}

JsonDigest JsonDigester::finish() const noexcept {
  const std::uint64_t words[2] = {mix64(low_ + std::rotl(high_, 32)), mix64(high_ ^ low_)};
  JsonDigest digest{};
  std::memcpy(digest.data(), words, sizeof words);
  return digest;
}

}  // namespace penstock::wire
