// Reads of single items that several ports need. Safe on any thread.
#pragma once

#include <rocksdb/options.h>

#include <optional>

#include "base/ids.h"
#include "base/result.h"
#include "engine/rocksdb/engine.h"
#include "store/embedded/writer.h"
#include "store/queue/embedded/queue_encoding.h"

namespace penstock::store::embedded {

// As it is written: a claim may hold it all the same.
Result<std::optional<ItemRecord>> read_item(const Engine::View& view, const ItemType& type,
                                            const ItemId& id,
                                            const rocksdb::ReadOptions& options = {});

// A claim leaves the record as it was; what ends it writes the claim's number. `claimed` is what
// was remembered before the record was read.
void count_claim(ItemRecord& record, std::optional<ItemRecord>&& claimed);

// As it is: the claim that holds it counts.
Result<std::optional<ItemRecord>> current_item(const Writer& writer, const Engine::View& view,
                                               const ItemType& type, const ItemId& id);

}  // namespace penstock::store::embedded
