// A server that may be away: whether it can be used, and how long to leave it alone.
#pragma once

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/rng.h"
#include "base/time.h"

namespace penstock::runtime {

// How long to leave a server alone that could not be reached: doubles from 50 ms to 1 s, each time
// with jitter, so that the nodes of a fleet do not come back in step. One thread at a time.
class Backoff {
 public:
  static constexpr Millis kFirst{50};
  // A database that is back is noticed this soon, and never asked more often than twice a second.
  static constexpr Millis kLongest{1'000};

  explicit Backoff(std::uint64_t seed) noexcept : rng_(seed) {}

  // The pause after one more failure: between half of its step and all of it.
  Millis next() noexcept {
    const Millis step = std::min(kLongest, Millis{kFirst.count() << std::min(failures_, 10)});
    ++failures_;
    return Millis{rng_.between(step.count() / 2, step.count())};
  }
  void reset() noexcept { failures_ = 0; }
  int failures() const noexcept { return failures_; }

 private:
  Rng rng_;
  int failures_ = 0;
};

// Whether a server can be used, by what a probe of it and the calls themselves tell. Thread-safe.
class ConnectionHealth {
 public:
  // A call that went wrong tells of the server for so long; then only the probe does.
  static constexpr Seconds kCallTrouble{10};

  // Whether that changed anything, for the log.
  bool on_probe(std::optional<std::string> trouble);
  // Once a call went through, none of the troubles before counts.
  void on_success();
  // Returns for how long none has gone through. A trouble that the probe would have too is over
  // when the probe says so; others are not its to judge.
  Millis on_trouble(const std::string& what, bool probe_would_tell, Instant now);

  Result<void> check(Instant now) const;
  Result<void> check_probe() const;  // by the probe alone

 private:
  mutable std::mutex mutex_;
  // Until the first answer nobody knows; what cannot be used is not ready.
  std::optional<std::string> probe_trouble_ = "not connected yet";  // guarded by mutex_
  std::optional<std::string> call_trouble_;                         // guarded by mutex_
  bool probe_would_tell_ = false;                                   // guarded by mutex_
  Instant trouble_since_{};                                         // guarded by mutex_
  Instant trouble_at_{};                                            // guarded by mutex_
};

}  // namespace penstock::runtime
