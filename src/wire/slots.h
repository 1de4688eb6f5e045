// Slots and their configs as JSON, names as in the API contract.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "core/slots/burst.h"
#include "core/slots/slot.h"
#include "core/slots/slot_config.h"
#include "wire/json.h"

namespace penstock::wire {

Result<core::SlotCall> decode_slot_call(JsonValue value);
// {configName?, requestedTime, count}
struct BurstCall {
  ConfigName config_name;  // empty = the configured default
  Instant requested{};
  std::int64_t count = 0;
};
// More is no burst but a backlog; the answer would be the same sentence.
inline constexpr std::int64_t kBurstMax = 1'000'000'000;
Result<BurstCall> decode_burst_call(JsonValue value);
// {firstScheduledTime, lastScheduledTime, windowsUsed, placed}
std::string encode_burst(const core::Burst& burst);
// The members of a config, its window's size as `windowSize` or in `windowSizeSecs`. With
// `in_force` it is a merge: what is absent stays, and the name too.
Result<core::SlotConfigDraft> decode_slot_config(JsonValue value,
                                                 const core::SlotConfigDraft* in_force = nullptr);

// {eventId, scheduledTime, delayMs, windowStart, configName}
void encode_assignment(JsonWriter& out, const core::Slot& slot);
// The same and {status, createdAt, configVersion, requestedTime, confirmBy?, owner?}
void encode_slot(JsonWriter& out, const core::Slot& slot);
// Its members and {version, active, effectiveFrom}
void encode_slot_config(JsonWriter& out, const core::SlotConfig& config);
// {config, pool, windowSize, windows: [{windowStart, used, max}]}, and {truncated: true, next} when
// there is more from `next` on.
std::string encode_windows(const core::SlotConfig& config, std::span<const core::WindowUse> windows,
                           bool truncated);

}  // namespace penstock::wire
