#include "store/quota/cached/seen_counts.h"

#include <utility>
#include <vector>

namespace penstock::store::cached {

void SeenCounts::keep_newer(Entries& entries, const Entry& entry) {
  const auto [found, added] = entries.try_emplace(entry.seen.user, entry);
  if (added) return;
  CountSeen& there = found->second.seen;
  // Windows are named in the order of their beginnings.
  const bool newer = entry.seen.window != there.window ? entry.seen.window > there.window
                                                       : entry.seen.version > there.version;
  if (newer) found->second = entry;
}

void SeenCounts::add(std::int64_t epoch, const CountSeen& seen, const runtime::Stopwatch& read) {
  const std::lock_guard lock(mutex_);
  if (epoch < epoch_) return;
  if (epoch > epoch_) entries_.clear();
  epoch_ = epoch;
  keep_newer(entries_, {.seen = seen, .read = read});
}

Result<void> SeenCounts::flush() {
  const std::lock_guard alone(flushing_);
  Entries entries;
  std::int64_t epoch = 0;
  {
    const std::lock_guard lock(mutex_);
    entries.swap(entries_);
    epoch = epoch_;
  }
  std::vector<CountSeen> batch;
  for (auto next = entries.begin(); next != entries.end();) {
    batch.clear();
    auto end = next;
    for (; end != entries.end() && batch.size() < kBatchMax; ++end) {
      batch.push_back(end->second.seen);
      batch.back().age = Micros{static_cast<std::int64_t>(end->second.read.seconds() * 1e6) + 1};
    }
    if (Result<void> written = ledger_.flow_back(epoch, batch); !written) {
      const std::lock_guard lock(mutex_);
      if (epoch == epoch_) {
        for (; next != entries.end(); ++next) keep_newer(entries_, next->second);
      }
      return written;
    }
    next = end;
  }
  return {};
}

}  // namespace penstock::store::cached
