// Attempts to send, one by one, gathered in memory and written in batches: none waits for it. What
// was gathered since the last write is lost in a crash. Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/gateway/message.h"
#include "runtime/metrics.h"
#include "store/quota/ports.h"

namespace penstock::service {

// What came of it; none = it was no attempt of anybody's (a repetition, a conflict, no such user).
std::optional<store::AttemptOutcome> outcome_of(const Result<store::Sent>& answer) noexcept;

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
