// How long something took, on the steady clock.
#pragma once

#include <chrono>

namespace penstock::runtime {

class Stopwatch {
 public:
  double seconds() const noexcept {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  double millis() const noexcept { return seconds() * 1'000; }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace penstock::runtime
