// One call of assign(): looks the events up, places the new ones, and writes them with the counters
// they changed in one atomic batch. Its buffers are kept from call to call. For the thread that
// holds the writer's mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "engine/rocksdb/records.h"
#include "store/embedded/writer.h"
#include "store/slots/ports.h"

namespace penstock::store::embedded {

class AssignBatch {
 public:
  explicit AssignBatch(Writer& writer) : writer_(writer) {}

  std::vector<Result<Assignment>> run(std::span<const SlotRequest> requests, Instant now);

  // For one who writes more in the same step: begin(), decide() what is wanted in the order of
  // `requests`, put() the slots into the step's batch, and end() it. `requests` must live until
  // then.
  void begin(const Engine::View& view, std::span<const SlotRequest> requests);
  // The answer stands until the next call.
  const Result<Assignment>& decide(const Engine::View& view, std::size_t request, Instant now);
  Result<void> put(Changes& changes);
  void end(bool committed);

 private:
  using Answers = std::vector<Result<Assignment>>;
  static constexpr std::size_t kNone = SIZE_MAX;

  struct SortKey {
    std::uint64_t head =
        0;  // the first eight bytes of the event, big-endian: decides most comparisons
    std::size_t request = 0;
  };

  // One distinct event of the batch.
  struct Entry {
    std::size_t answer = kNone;  // the one that showed its slot first
    bool fresh = false;          // that slot is new
    bool replaces = false;       // and takes the place of one that is over
  };

  void sort_events();
  Result<Assignment> known(const Engine::View& view, const SlotRequest& request,
                           std::size_t entry) const;
  Result<Assignment> place(WindowSource& source, const SlotRequest& request, Instant now);
  Result<const core::SlotConfig*> config_of(const ConfigName& name);
  Result<void> give_back(const Engine::View& view, std::size_t entry, Instant now);
  Result<void> write(const Engine::View& view);
  void forget();

  Writer& writer_;
  std::span<const SlotRequest> requests_;
  std::vector<SortKey> order_;
  std::vector<std::size_t> entry_of_;  // request -> entry
  std::vector<Entry> entries_;         // ascending by event
  std::vector<rocksdb::Slice> keys_;   // of entries
  LookUp look_up_;                     // of keys_
  Answers answers_;
  ActiveConfigs::Snapshot config_;  // of the last request, since most name the same
  ConfigName config_name_;
  rocksdb::WriteBatch buffer_;
  std::string value_;
};

}  // namespace penstock::store::embedded
