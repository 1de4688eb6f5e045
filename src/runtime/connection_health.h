// Whether a server can be used, by what a probe of it and the calls themselves tell. Thread-safe.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace penstock::runtime {

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
