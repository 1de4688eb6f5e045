// One version of a named limit on slots: how many events each window of a pool may hold. Plain
// data.
#pragma once

#include <cstdint>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"

namespace penstock::core {

inline constexpr std::int64_t kMaxPerWindowMin = 1;
inline constexpr std::int64_t kMaxPerWindowMax = 10'000'000;  // the API contract
inline constexpr Millis kWindowSizeMin{1};
inline constexpr Millis kWindowSizeMax = std::chrono::days{1};
// Search depth a request may ask for. A year is far beyond any use, and keeps window arithmetic
// near 2262 inside 64 bits.
inline constexpr Millis kMaxDelayMax = std::chrono::days{366};

struct SlotConfig {
  ConfigName name;
  PoolName pool;  // configs that name the same pool share its windows
  std::int64_t max_per_window = 0;
  Millis window_size{0};
  std::int64_t version = 0;  // 1, 2, … per name
  bool active = false;       // only the newest version of a name is
  Instant effective_from{};

  friend bool operator==(const SlotConfig&, const SlotConfig&) = default;
};

// What an operator asks for; the store turns it into the next version.
struct SlotConfigDraft {
  ConfigName name;
  PoolName pool;
  std::int64_t max_per_window = 0;
  Millis window_size{0};
};

// Refuses zero, negative and absurd values, naming the field as the API does. An empty pool passes:
// it stands for a pool with the config's own name.
Result<void> validate(const SlotConfigDraft& draft);

}  // namespace penstock::core
