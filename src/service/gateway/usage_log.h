// Counts of what was refused, gathered in memory and written in batches: an attempt that is limited
// must not cost a write. What was gathered since the last write is lost in a crash. Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "store/quota/ports.h"

namespace penstock::service {

class UsageLog {
 public:
  // Users times minutes that wait: some 8 MB. More are not counted until there is room.
  static constexpr std::size_t kEntriesMax = 100'000;

  // `store` must outlive this.
  explicit UsageLog(store::QuotaStore& store) : store_(store) {}

  // False: there is no room, and nothing was counted.
  bool add(store::UserId user, Instant at, const store::UsageCounts& counts);

  // Blocks. What could not be written waits for the next time.
  Result<void> flush();

 private:
  using Entries = std::map<std::pair<store::UserId, Instant>, store::UsageCounts>;

  store::QuotaStore& store_;
  std::mutex flushing_;  // one at a time, so that no count is out of sight twice
  std::mutex mutex_;
  Entries entries_;  // guarded by mutex_
};

}  // namespace penstock::service
