// One call of claim(): walks the due items and the claims that are given up, in the order of time,
// and takes them in one atomic step. For the thread that holds the writer's mutex; lives for one
// call.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "engine/rocksdb/engine.h"
#include "engine/rocksdb/records.h"
#include "store/embedded/writer.h"
#include "store/queue/embedded/queue_encoding.h"
#include "store/queue/embedded/queue_step.h"
#include "store/queue/ports.h"

namespace penstock::store::embedded {

class ClaimBatch {
 public:
  ClaimBatch(Writer& writer, const Engine::View& view, const ClaimRequest& request, Instant now);

  Result<Claim> run();

 private:
  void gather_given_up();
  Result<void> walk();
  Result<std::optional<TimedKey>> first_due();
  Result<void> take(QueueIndex::Held item, bool again);
  Result<std::string> read_context(const QueueIndex::Held& item);
  Result<void> commit();

  Writer& writer_;
  const Engine::View& view_;
  const ClaimRequest& request_;
  const Instant now_;
  QueueIndex::Type& type_;
  const std::uint64_t number_;  // of this claim
  QueueStep step_;
  Cursor due_;
  std::string last_due_key_;  // of queue_due, that was taken
  std::vector<const std::pair<const ItemId, ItemRecord>*> given_up_;  // latest first
  std::vector<QueueIndex::Held> taken_;
  std::vector<ItemId> dead_;  // of given_up_
  std::size_t seen_ = 0;
  std::size_t bytes_ = 0;           // of contexts
  std::optional<Cursor> contexts_;  // at the last one that was read in the order of time
  Claim claim_;
};

}  // namespace penstock::store::embedded
