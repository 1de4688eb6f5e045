// What a throttle decision says, key by key. Plain views: the keys are the caller's, the policies
// those of the set that was asked; a decision is encoded before either goes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/limits/limit.h"
#include "core/policy/policy.h"

namespace penstock::core {

// Keys of one request, all or none: a request that needs more limits than this is a mistake, and a
// decision stays small enough for the stack.
inline constexpr std::size_t kThrottleKeysMax = 16;
inline constexpr std::int64_t kCostMax = kCapacityMax;  // both ways

// What one request asks. The keys differ.
struct ThrottleCall {
  std::array<std::string_view, kThrottleKeysMax> keys;
  std::size_t key_count = 0;
  std::int64_t cost = 1;

  // False: there is no room left. A key that is there already is not added again.
  bool add(std::string_view key) noexcept {
    for (std::size_t i = 0; i < key_count; ++i) {
      if (keys[i] == key) return true;
    }
    if (key_count == keys.size()) return false;
    keys[key_count++] = key;
    return true;
  }
};

struct ThrottleDecision {
  bool allowed = false;
  // The usage could not be asked, and the policies let the request through all the same.
  bool unchecked = false;
  std::size_t count = 0;
  std::size_t bound = 0;  // the limit that decided
  std::array<std::string_view, kThrottleKeysMax> keys;
  std::array<const Policy*, kThrottleKeysMax> policies;
  std::array<LimitStatus, kThrottleKeysMax> statuses;

  std::string_view key() const noexcept { return keys[bound]; }
  const Policy& policy() const noexcept { return *policies[bound]; }
  const LimitStatus& status() const noexcept { return statuses[bound]; }
};

// The decision over one key: an entry of a batch.
struct KeyDecision {
  bool allowed = false;
  std::string_view key;
  const Policy* policy = nullptr;
  LimitStatus status;
};

// What is known of one key, for people.
struct KeyMetrics {
  std::string key;
  LimitType type = LimitType::token_bucket;
  std::int64_t tokens = 0;  // whole ones left
  std::int64_t capacity = 0;
  std::int64_t window_count = 0;  // cost admitted in the last window
  Seconds window{0};
};

struct ThrottleTotals {
  std::uint64_t allowed = 0;
  std::uint64_t blocked = 0;
  std::uint64_t shadow_denied = 0;  // allowed, but a shadow policy would have denied
  std::size_t policies = 0;
};

}  // namespace penstock::core
