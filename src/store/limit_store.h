// Port: the usage of throttle keys. A backend proves itself with store/conformance/. Safe to call
// from several threads at once. The memory backend decides on the calling thread and never blocks;
// others block for one round trip per call, whatever the size of the batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/limits/limit.h"

namespace penstock::store {

// Keys may be any bytes: people's are UTF-8, those of Redis clients what they like.
inline constexpr std::size_t kLimitKeyBytesMax = 512;

inline bool is_limit_key(std::string_view key) noexcept {
  return !key.empty() && key.size() <= kLimitKeyBytesMax;
}

// One key and the limit that applies to it now. The usage of a key outlives changes of its limit:
// more capacity opens at once, less closes at once; another type starts fresh.
struct LimitCheck {
  std::string_view key;
  core::Limit limit;
  bool shadow = false;  // never denies; charged only if it would have admitted
};

// Several checks stand or fall together: every one admits, or none is charged.
struct LimitRequest {
  std::span<const LimitCheck> checks;     // keys differ; at least one
  std::int64_t cost = 1;                  // 0 = look without writing; negative = give back
  std::span<core::LimitStatus> statuses;  // out: one per check, in their order
};

struct LimitAnswer {
  bool admitted = false;
  // The check that bound: of a denial the one with the longest wait (kNever is longest), of an
  // admission the one with the least remaining; the first of equals. Shadow checks bind only when
  // there are no others.
  std::size_t bound = 0;
};

// What is known of one key, for people.
struct KeyUse {
  std::string key;
  core::Limit limit;              // that it was last judged by
  std::int64_t used = 0;          // tokens, rounded up
  std::int64_t window_count = 0;  // cost admitted in the last window
};

class LimitStore {
 public:
  LimitStore() = default;
  LimitStore(const LimitStore&) = delete;
  LimitStore& operator=(const LimitStore&) = delete;
  virtual ~LimitStore() = default;

  // Decides in the order of `requests`, each atomically; `answers` has one place per request. A
  // request with something that is no key is `invalid`, alone.
  // `now` empty = the backend's clock.
  virtual void apply(std::span<const LimitRequest> requests, std::optional<Instant> now,
                     std::span<Result<LimitAnswer>> answers) = 0;

  // Forgets all usage of `key`. False: there was none.
  virtual Result<bool> reset(std::string_view key) = 0;

  virtual Result<std::optional<KeyUse>> find(std::string_view key, std::optional<Instant> now) = 0;

  // Keys with usage in the order of their bytes, after `after` (empty = from the start).
  virtual Result<std::vector<KeyUse>> list(std::string_view after, std::size_t limit,
                                           std::optional<Instant> now) = 0;
};

}  // namespace penstock::store
