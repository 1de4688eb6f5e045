// What may be a throttle key: 1 to 512 bytes of UTF-8 without control characters. Policy keys obey
// the same rule. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace penstock::core {

inline constexpr std::size_t kThrottleKeyBytesMax = 512;  // the API contract

// Empty when `text` is a key, else what is wrong with it.
std::string_view throttle_key_problem(std::string_view text) noexcept;

}  // namespace penstock::core
