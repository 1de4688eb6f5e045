// What the cache said about entries, until the ledger has it: the newest of each user. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "base/result.h"
#include "runtime/stopwatch.h"
#include "store/quota/cache_ports.h"

namespace penstock::store::cached {

class SeenCounts {
 public:
  // `ledger` must outlive this.
  explicit SeenCounts(QuotaLedger& ledger) : ledger_(ledger) {}

  // Of `epoch`; the first one of another epoch makes those before worthless. `seen.age` is left
  // out, `read` was started before the cache was asked.
  void add(std::int64_t epoch, const CountSeen& seen, const runtime::Stopwatch& read);

  // Blocks. What could not be written waits for the next time.
  Result<void> flush();

 private:
  // One call stays well under the deadline of the store.
  static constexpr std::size_t kBatchMax = 5'000;

  struct Entry {
    CountSeen seen;
    runtime::Stopwatch read;
  };
  using Entries = std::map<core::UserId, Entry>;

  static void keep_newer(Entries& entries, const Entry& entry);

  QuotaLedger& ledger_;
  std::mutex flushing_;  // one at a time: who returns from flush() knows that all before is written
  std::mutex mutex_;
  std::int64_t epoch_ = 0;  // guarded by mutex_
  Entries entries_;         // guarded by mutex_; of epoch_
};

}  // namespace penstock::store::cached
