// What came of attempts to send: the metrics, the usage of each user by the minute, and the
// attempts one by one. Gathered in memory and written in batches: an attempt that is limited must
// not cost a write. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/gateway/message.h"
#include "runtime/metrics.h"
#include "service/outcome_counters.h"
#include "store/quota/ports.h"

namespace penstock::service {

// Counts of what was refused. What was gathered since the last write is lost in a crash.
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

// Who counts what is sent: the step of the store that takes it, or the tally.
enum class SentCount : std::uint8_t { by_store, by_tally };

class SendTally {
 public:
  // Both must outlive this.
  SendTally(store::QuotaStore& quotas, runtime::Metrics& metrics);

  void count(core::UserId user, const Result<store::Sent>& answer, Instant now, SentCount sent);

  UsageLog& usage() noexcept { return usage_; }

 private:
  enum class Outcome : std::uint8_t { sent, repeated, limited, conflict, unknown_user, failed };

  OutcomeCounters<Outcome, 6> outcomes_;
  runtime::Counter& uncounted_;
  UsageLog usage_;
};

// What came of it; none = it was no attempt of anybody's (a repetition, a conflict, no such user).
std::optional<store::AttemptOutcome> outcome_of(const Result<store::Sent>& answer) noexcept;

// Attempts to send, one by one; none waits for it. What was gathered since the last write is lost
// in a crash.
class AttemptLog {
 public:
  // What waits: texts of 200 bytes make that some 64 MB. More are dropped, and counted.
  static constexpr std::size_t kWaitingMax = 200'000;

  // What has to be remembered of a call until it is answered.
  struct Call {
    core::UserId user;
    std::string text;
  };

  // Both must outlive this. `seed`: another one in every life of every node.
  AttemptLog(store::AttemptStore& store, core::AttemptDetail detail, std::uint64_t seed,
             runtime::Metrics& metrics);

  std::vector<Call> remember(std::span<const core::SendCall> calls) const;
  void note(std::vector<Call>&& calls, std::span<const Result<store::Sent>> answers, Instant now);

  // Blocks. What could not be written waits for the next time.
  Result<void> flush();

 private:
  store::AttemptStore& store_;
  const core::AttemptDetail detail_;
  const std::uint64_t seed_;
  runtime::Counter& dropped_;
  std::atomic<std::uint64_t> drawn_{0};
  std::mutex flushing_;  // one at a time, so that none is out of sight twice
  std::mutex mutex_;
  std::vector<store::Attempt> waiting_;  // guarded by mutex_
};

}  // namespace penstock::service
