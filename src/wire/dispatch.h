// Items of dispatch as JSON, names as in the API contract.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "core/dispatch/item_call.h"
#include "wire/json.h"

namespace penstock::wire {

// {itemId, scheduledTime | slot: {config, requestedTime?}, context}
Result<core::ItemCall> decode_item_call(JsonValue value, const ItemType& type,
                                        std::size_t context_bytes_max);

}  // namespace penstock::wire
