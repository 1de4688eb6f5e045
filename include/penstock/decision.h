// What a Limiter says about a request.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace penstock {
inline namespace v0 {

// The cost is above the capacity: no wait is long enough.
inline constexpr std::chrono::microseconds kNever{-1};

// Why a question could not be answered. Such a request is not allowed, and nothing was charged.
enum class CheckError : std::uint8_t {
  none,
  bad_key,        // keys have from 1 to 512 bytes
  bad_key_count,  // a request has from 1 to 16 different keys
  bad_cost,       // costs are from 0 to 10^12
};

struct Decision {
  bool allowed = false;
  // A shadow policy would have denied what was allowed.
  bool shadow_denied = false;
  CheckError error = CheckError::none;
  std::int64_t limit = 0;      // the capacity
  std::int64_t remaining = 0;  // whole tokens left
  // Until exactly when the same request would be allowed if nobody else came; zero when it was.
  std::chrono::microseconds retry_after{0};
  std::chrono::microseconds reset_after{0};  // until nothing is used
  // That the above speaks of: of several, the one that denied, or the one with the least left.
  // A view of the caller's own text.
  std::string_view key = {};

  explicit operator bool() const noexcept { return allowed; }
};

}  // namespace v0
}  // namespace penstock
