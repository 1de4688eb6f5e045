// What an older data folder lacks of the queue's records.
#pragma once

#include "base/result.h"
#include "store/embedded/database.h"

namespace penstock::store::embedded {

// Notes the DEAD items of a folder from before they were listed (schema 6). All that is settled is
// read once. May be done again.
Result<void> list_dead_items(const Database& database, const std::filesystem::path& dir);
// Gives the slots of READY items the event ids of items, in a folder from before they had them
// (schema 7). All READY items are read once. May be done again.
Result<void> mark_item_slots(const Database& database, const std::filesystem::path& dir);

}  // namespace penstock::store::embedded
