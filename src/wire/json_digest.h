// Tells whether two JSON values mean the same, by a number that is equal when they do: white space,
// the order of members and the way a number or a character is written make no difference.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "wire/json.h"

namespace penstock::wire {

using JsonDigest = std::array<std::uint8_t, 16>;

class JsonDigester {
 public:
  JsonDigester& add(JsonValue value);
  JsonDigester& add(std::string_view text);
  JsonDigester& add(std::int64_t number);
  JsonDigest finish() const noexcept;

 private:
  void mix(std::uint64_t word) noexcept;
  void mix_text(std::uint64_t tag, std::string_view text) noexcept;
  void mix_number(std::string_view raw);
  void mix_object(JsonValue object);

  std::uint64_t low_ = 0x243f6a8885a308d3;  // any two numbers that differ
  std::uint64_t high_ = 0x13198a2e03707344;
};

}  // namespace penstock::wire
