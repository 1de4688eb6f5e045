// What is set for all items of one type: how they are claimed, paced, retried, and where they go.
// The description below is the one place that says what may be set: JSON, checks, histories, the
// stored document, the schema and the command line's flags come from it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/describe.h"
#include "base/result.h"
#include "base/time.h"
#include "core/dispatch/pace.h"

namespace penstock::core {

// Where items go. What is set of it is the matter of its kind (sink/kinds.h).
using SinkSettings = OneOf;

// What dispatch has to know of a sink before it hands anything over.
struct SinkTraits {
  // Hand-overs under way at once. What a sink without a bound of its own queues is its to bound;
  // this keeps it in sight.
  std::size_t concurrency = 10'000;
  bool delays = false;  // can start work later by itself, so it is given items early
  bool stays_open =
      false;  // hears of what it sent at any time: open while there is nothing to send
};

struct ItemTypeSettings {
  bool enabled = true;                       // the kill switch
  std::int64_t batch_size = 500;             // items in one claim
  Seconds dispatch_interval{5};              // at least this often it looks for items
  Millis jitter_window{4'000};               // items that want one instant are spread over it
  std::chrono::minutes pre_start_buffer{0};  // how early an item may be claimed
  int max_dispatch_retries = 5;              // failed attempts until an item is DEAD
  std::chrono::minutes stale_claim_threshold{2};
  std::optional<std::int64_t> max_per_second;  // none = no pace
  std::optional<std::int64_t> burst;           // none = a tenth of a second's worth
  // With five attempts an item outlives a sink that is down for a minute: 5 + 10 + 20 + 40 s.
  Millis retry_backoff{5'000};
  Millis retry_backoff_max = std::chrono::minutes{5};
  Seconds max_pause = std::chrono::minutes{5};  // a sink that says "slow down" is believed so long
  SinkSettings sink{.kind = "log", .document = R"({"type":"log"})"};

  friend bool operator==(const ItemTypeSettings&, const ItemTypeSettings&) = default;
};

inline std::optional<PaceLimit> pace_of(const ItemTypeSettings& settings) {
  if (!settings.max_per_second) return std::nullopt;
  return PaceLimit{.per_second = *settings.max_per_second,
                   .burst = settings.burst.value_or(default_burst(*settings.max_per_second))};
}

}  // namespace penstock::core

namespace penstock {

template <>
struct Description<core::ItemTypeSettings> {
  using Settings = core::ItemTypeSettings;
  static constexpr std::string_view name = "ItemTypeSettings";
  static constexpr std::array fields = {
      field<&Settings::enabled>("enabled", "The kill switch."),
      // One claim stays under 100 ms.
      range(field<&Settings::batch_size>("batchSize", "Items in one claim; does not cap the pace."),
            1, 5'000),
      range(field<&Settings::dispatch_interval>("dispatchIntervalSecs",
                                                "How often it looks at least."),
            1, 3'600),
      range(field<&Settings::jitter_window>(
                "jitterWindowMs", "Items that want one instant are spread over this time."),
            0, 3'600'000),
      range(field<&Settings::pre_start_buffer>("preStartBufferMins",
                                               "How early an item may be claimed."),
            0, 1'440),
      range(field<&Settings::max_dispatch_retries>(
                "maxDispatchRetries", "Attempts that may fail until the item is DEAD."),
            1, 1'000),
      range(field<&Settings::stale_claim_threshold>(
                "staleClaimThresholdMins",
                "A claim that was never settled is taken again after this time."),
            1, 1'440),
      range(field<&Settings::max_per_second>("maxPerSecond",
                                             "Hand-overs in any sliding second, retries included, "
                                             "over all nodes; none = no pace."),
            1, core::kPerSecondMax),
      range(field<&Settings::burst>(
                "burst", "Hand-overs back to back, within that bound; default: a tenth of it."),
            1, core::kPerSecondMax),
      range(field<&Settings::retry_backoff>("retryBackoffMs",
                                            "Wait after the first failed attempt; doubles."),
            0, 86'400'000),
      range(field<&Settings::retry_backoff_max>("retryBackoffMaxMs",
                                                "At most; not less than `retryBackoffMs`."),
            0, 86'400'000),
      range(field<&Settings::max_pause>(
                "maxPauseSecs", "A sink that says \"slow down\" is believed for at most so long."),
            1, 86'400),
      field<&Settings::sink>(
          "sink", "Where items go. A sink of another type than before starts from the defaults.")};

  static Result<void> rule(const Settings& settings) {
    if (settings.retry_backoff_max >= settings.retry_backoff) return {};
    return invalid_field("retryBackoffMaxMs", "must not be less than retryBackoffMs");
  }
};

}  // namespace penstock
