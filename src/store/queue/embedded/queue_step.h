// One atomic step on the queue: gathers what becomes of items, so that their records, their places
// in the indexes, their audit and the counts change together, and commits it. For the thread that
// holds the writer's mutex; lives for one step.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "engine/rocksdb/records.h"
#include "store/embedded/writer.h"
#include "store/queue/embedded/queue_encoding.h"
#include "store/queue/embedded/queue_index.h"

namespace penstock::store::embedded {

class QueueStep {
 public:
  struct Move {
    ItemState to = ItemState::ready;
    AuditAction action = AuditAction::enqueued;
    Instant at{};
    std::string_view batch_id = {};
    std::string_view detail = {};
  };

  QueueStep(Writer& writer, const Engine::View& view) : writer_(writer), changes_(view) {}

  // A new item, READY.
  void add(const ItemType& type, const ItemId& id, ItemRecord& record, std::string_view context);

  // From the state that `record` has to another. A new `due` stands in the record already when the
  // item becomes READY.
  void move(const ItemType& type, const ItemId& id, ItemRecord& record, const Move& move);

  // From READY or CLAIMED to CLAIMED by claim number `number`.
  void claim(const ItemType& type, const ItemId& id, ItemRecord& record, std::uint64_t number,
             FencingToken token, Instant at);

  // A settled item, with all that belongs to it.
  void forget(const ItemType& type, const TimedKey& settled, const SettledItem& item);

  void open_claim(const ItemType& type, std::uint64_t number, const ClaimRecord& claim);
  // `record` is CLAIMED no more, or by another claim; a claim without items goes.
  void leave_claim(const ItemType& type, const ItemRecord& record);

  QueueIndex::Effect& effect(const ItemType& type);
  // For what others write in the same step.
  Changes& changes() noexcept { return changes_; }

  // Durable when it returns; what is remembered follows.
  Result<void> commit();

 private:
  void enter(const ItemType& type, const ItemId& id, ItemRecord& record, Instant at);
  void leave(const ItemType& type, const ItemId& id, const ItemRecord& record);
  void note(const ItemType& type, const ItemId& id, ItemRecord& record, const AuditNote& entry);
  void count_out(const ItemType& type, ItemState state);

  Writer& writer_;
  Changes changes_;
  bool miscounted_ = false;
  std::map<ItemType, QueueIndex::Effect> effects_;
  const ItemType* last_type_ = nullptr;  // most steps are of one type
  QueueIndex::Effect* last_effect_ = nullptr;
  std::string key_;
  std::string value_;
};

// Reads of single items that several ports need. Safe on any thread.

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
