// What an older data folder lacks of the queue's records.
#pragma once

#include "base/result.h"
#include "store/embedded/database.h"

namespace penstock::store::embedded {

// Notes the DEAD items of a folder from before they were listed (schema 6). All that is settled is
// read once. May be done again.
Result<void> list_dead_items(const Database& database, const std::filesystem::path& dir);

}  // namespace penstock::store::embedded
