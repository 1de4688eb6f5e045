// The settings of an item type as JSON, names as in the API contract.
#pragma once

#include "base/result.h"
#include "core/dispatch/item_type.h"
#include "wire/described.h"
#include "wire/json.h"

namespace penstock::wire {

// Reads settings; what is absent comes from `base`: the defaults for a replacement, the settings in
// force for a merge. A sink of another type than the base's starts from the defaults. Null is
// absent, but for maxPerSecond and burst, which it takes away.
Result<core::ItemTypeSettings> decode_item_type(JsonValue value,
                                                const core::ItemTypeSettings& base);

// {enabled, batchSize, …, sink}: the members alone. Counted secrets are for people: their number
// stands in `sink.secrets`. Shown ones are for the store, and decode_item_type reads them back.
void encode_item_type_members(JsonWriter& out, const core::ItemTypeSettings& settings,
                              Secrets secrets);

}  // namespace penstock::wire
