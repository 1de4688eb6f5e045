// Items of dispatch as JSON, names as in the API contract.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "core/dispatch/item.h"
#include "wire/json.h"

namespace penstock::wire {

// {itemId, scheduledTime | slot: {config, requestedTime?}, context}
// `other_id` is that of a body without itemId; empty = a body must have one.
Result<core::ItemCall> decode_item_call(JsonValue value, const ItemType& type,
                                        std::size_t context_bytes_max,
                                        std::string_view other_id = {});

}  // namespace penstock::wire
