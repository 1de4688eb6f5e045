// An item as people see it, told from its rows. Pure.
#pragma once

#include "engine/postgres/rows.h"
#include "store/queue/ports.h"

namespace penstock::store::postgres {

// The name of a batch for people, and back; 0 = not one of ours.
std::string batch_name(std::int64_t batch);
std::int64_t batch_of(std::string_view name);

// `rows`: the answer of find_item.sql, not empty.
ItemView item_story(const ItemType& type, const ItemId& id, const Rows& rows);

}  // namespace penstock::store::postgres
