// Slots and their configs as JSON, names as in the API contract.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "core/slots/slot.h"
#include "core/slots/slot_config.h"
#include "wire/json.h"

namespace penstock::wire {

Result<core::SlotCall> decode_slot_call(JsonValue value);
Result<core::SlotConfigDraft> decode_slot_config(JsonValue value);

// {eventId, scheduledTime, delayMs, windowStart, configName}
void encode_assignment(JsonWriter& out, const core::Slot& slot);
// The same and {status, createdAt, configVersion, requestedTime, confirmBy?}
void encode_slot(JsonWriter& out, const core::Slot& slot);
// {configName, maxPerWindow, windowSize, windowSizeSecs?, pool, version, active, effectiveFrom}
void encode_slot_config(JsonWriter& out, const core::SlotConfig& config);
// {config, pool, windowSize, windows: [{windowStart, used, max}]}, and {truncated: true, next} when
// there is more from `next` on.
std::string encode_windows(const core::SlotConfig& config, std::span<const core::WindowUse> windows,
                           bool truncated);

}  // namespace penstock::wire
