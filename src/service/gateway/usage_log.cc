#include "service/gateway/usage_log.h"

namespace penstock::service {

bool UsageLog::add(store::UserId user, Instant at, const store::UsageCounts& counts) {
  const std::pair place(user, store::minute_of(at));
  const std::lock_guard lock(mutex_);
  if (const auto found = entries_.find(place); found != entries_.end()) {
    found->second += counts;
    return true;
  }
  if (entries_.size() >= kEntriesMax) return false;
  entries_.emplace(place, counts);
  return true;
}

Result<void> UsageLog::flush() {
  const std::lock_guard turn(flushing_);
  Entries taken;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(entries_);
  }
  if (taken.empty()) return {};
  std::vector<store::UsageDelta> deltas;
  deltas.reserve(taken.size());
  for (const auto& [place, counts] : taken) {
    deltas.push_back({.user = place.first, .minute = place.second, .counts = counts});
  }
  Result<void> written = store_.record(deltas);
  if (written) return written;
  const std::lock_guard lock(mutex_);
  for (const auto& [place, counts] : taken) entries_[place] += counts;
  return written;
}

}  // namespace penstock::service
