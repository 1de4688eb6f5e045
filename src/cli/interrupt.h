// Ctrl-C (or SIGTERM) as a flag, so that a long command ends in order. While an object lives the
// first signal only sets the flag; a second one ends the process. One object at a time.
#pragma once

#include <atomic>

namespace penstock::cli {

class Interrupt {
 public:
  Interrupt() noexcept;
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  bool happened() const noexcept { return flag().load(); }
  const std::atomic<bool>& flag() const noexcept;  // lives as long as the process
};

}  // namespace penstock::cli
