// One atomic step on the queue: gathers what becomes of items, so that their records, their places
// in the indexes, their audit and the counts change together, and commits it. For the thread that
// holds the writer's mutex; lives for one step.
#pragma once

#include <rocksdb/write_batch.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "engine/rocksdb/engine.h"
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

  QueueStep(Writer& writer, const Engine::View& view) : writer_(writer), view_(view) {}

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
  rocksdb::WriteBatch& batch() noexcept { return batch_; }

  // Durable when it returns; what is remembered follows.
  Result<void> commit();

 private:
  void enter(const ItemType& type, const ItemId& id, ItemRecord& record, Instant at);
  void leave(const ItemType& type, const ItemId& id, const ItemRecord& record);
  void note(const ItemType& type, const ItemId& id, ItemRecord& record, const AuditNote& entry);
  void put(Family family, std::string_view key, std::string_view value);
  void remove(Family family, std::string_view key);
  void remove_once(Family family, std::string_view key);
  void count_out(const ItemType& type, ItemState state);
  void keep(const rocksdb::Status& status) {
    if (status_.ok()) status_ = status;
  }

  Writer& writer_;
  const Engine::View& view_;
  rocksdb::WriteBatch batch_;
  rocksdb::Status status_;  // the first that was not ok
  std::map<ItemType, QueueIndex::Effect> effects_;
  const ItemType* last_type_ = nullptr;  // most steps are of one type
  QueueIndex::Effect* last_effect_ = nullptr;
  std::string key_;
  std::string value_;
};

}  // namespace penstock::store::embedded
