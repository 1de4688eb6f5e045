// One call of enqueue(): looks the items up, places those that want a slot, and writes the new ones
// with their slots in one atomic step. Its buffers are kept from call to call. For the thread that
// holds the writer's mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "engine/rocksdb/records.h"
#include "store/embedded/writer.h"
#include "store/queue/embedded/queue_encoding.h"
#include "store/queue/ports.h"
#include "store/slots/embedded/assign_batch.h"

namespace penstock::store::embedded {

class EnqueueBatch {
 public:
  explicit EnqueueBatch(Writer& writer) : writer_(writer), slots_(writer) {}

  // What is to be written in the same step, once the answers are known; an error of it refuses the
  // whole batch.
  using Rider = std::function<Result<void>(std::span<const Result<Enqueued>>, Changes&)>;

  std::vector<Result<Enqueued>> run(std::span<const NewItem> items, Instant now,
                                    const Rider& rider = nullptr);

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  // One distinct item of the batch.
  struct Entry {
    std::size_t created = kNone;  // where its record stands in created_
  };
  struct Created {
    std::size_t item = 0;
    ItemRecord record;
  };

  void sort_items();
  void look_slots_up(const Engine::View& view);
  Result<Enqueued> decide(const Engine::View& view, std::size_t item, Instant now);
  Result<Enqueued> known(const Engine::View& view, std::size_t item) const;
  Result<Enqueued> create(const Engine::View& view, std::size_t item, Instant now);
  Result<void> write(const Engine::View& view, std::span<const Result<Enqueued>> answers,
                     const Rider& rider);
  void forget();

  Writer& writer_;
  AssignBatch slots_;
  std::span<const NewItem> items_;
  std::vector<std::string> names_;  // of each item: its key
  std::vector<std::size_t> order_;
  std::vector<std::size_t> entry_of_;       // item -> entry
  std::vector<Entry> entries_;              // ascending by key
  std::vector<rocksdb::Slice> keys_;        // of entries
  LookUp look_up_;                          // of keys_
  std::vector<SlotRequest> slot_requests_;  // of new items
  std::vector<std::size_t> slot_of_;        // item -> its request, or kNone
  std::vector<Created> created_;
};

}  // namespace penstock::store::embedded
