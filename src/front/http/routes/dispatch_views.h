// What dispatch answers, as JSON.
#pragma once

#include <string>
#include <vector>

#include "service/dispatch/dispatch_service.h"
#include "wire/json.h"

namespace penstock::front {

// {itemType, itemId, status, scheduledTime}
void encode_taken(wire::JsonWriter& out, std::string_view type, std::string_view id,
                  const store::Enqueued& taken);
std::string encode_item(const store::ItemView& item);
void encode_dead(wire::JsonWriter& out, const store::DeadItem& item);
std::string encode_summary(const service::DispatchSummary& summary);
// `kinds` of sinks show what is set of theirs.
void encode_item_type(wire::JsonWriter& out, const store::ItemTypeRecord& record, Kinds kinds);
std::string encode_type_history(const std::vector<service::ItemTypeChange>& changes, Kinds kinds);

}  // namespace penstock::front
