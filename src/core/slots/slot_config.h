// One version of a named limit on slots: how many events each window of a pool may hold. Plain
// data, and what may stand in it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/describe.h"
#include "base/ids.h"
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
  PoolName pool;  // empty = a pool with the config's own name
  std::int64_t max_per_window = 0;
  Millis window_size{0};
};

inline SlotConfigDraft draft_of(const SlotConfig& config) {
  return {.name = config.name,
          .pool = config.pool,
          .max_per_window = config.max_per_window,
          .window_size = config.window_size};
}

inline SlotConfig config_of(SlotConfigDraft draft, std::int64_t version, bool active,
                            Instant effective_from) {
  if (draft.pool.empty()) draft.pool = PoolName::trusted(draft.name.str());
  return {.name = std::move(draft.name),
          .pool = std::move(draft.pool),
          .max_per_window = draft.max_per_window,
          .window_size = draft.window_size,
          .version = version,
          .active = active,
          .effective_from = effective_from};
}

}  // namespace penstock::core

namespace penstock {

template <>
struct Description<core::SlotConfigDraft> {
  using Draft = core::SlotConfigDraft;

  static constexpr std::string_view name = "SlotConfig";
  static constexpr std::array fields = {
      required(field<&Draft::name>("configName", "Its name.")),
      required(
          range(field<&Draft::max_per_window>("maxPerWindow", "How many events a window may hold."),
                core::kMaxPerWindowMin, core::kMaxPerWindowMax)),
      range(as(field<&Draft::window_size>("windowSize", "How long a window is."),
               FieldKind::duration),
            core::kWindowSizeMin.count(), core::kWindowSizeMax.count()),
      field<&Draft::pool>("pool",
                          "Configs of one pool share its windows; by default the config has one "
                          "of its own.")};
};

}  // namespace penstock
