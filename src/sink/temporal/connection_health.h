// Whether Temporal can be used, by what the probe and the starts tell. Thread-safe.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace penstock::sink {

class ConnectionHealth {
 public:
  // A start that went wrong tells of the server for so long; then only the probe does.
  static constexpr Seconds kStartTrouble{10};

  // Whether that changed anything, for the log.
  bool on_probe(std::optional<std::string> trouble);
  // Once a start went through, none of the troubles before counts.
  void on_started();
  // Returns for how long none has gone through. A trouble that the probe would have too is over
  // when the probe says so; others are not its to judge.
  Millis on_trouble(const std::string& what, bool probe_would_tell, Instant now);

  Result<void> check(Instant now) const;

 private:
  mutable std::mutex mutex_;
  // Until the first answer nobody knows; what cannot be used is not ready.
  std::optional<std::string> probe_trouble_ = "not connected yet";  // guarded by mutex_
  std::optional<std::string> start_trouble_;                        // guarded by mutex_
  bool probe_would_tell_ = false;                                   // guarded by mutex_
  Instant trouble_since_{};                                         // guarded by mutex_
  Instant trouble_at_{};                                            // guarded by mutex_
};

}  // namespace penstock::sink
