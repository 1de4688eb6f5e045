// The threads that answer reads, the same in every service. Those that scan have a thread and a
// short queue of their own: however many of them are asked for, a look-up waits for look-ups only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "runtime/task_queue.h"

namespace penstock::service {

enum class ReadCost : std::uint8_t {
  quick,  // a few rows by their keys, and small changes: well under a millisecond
  heavy,  // scans: up to a tenth of a second of a core
};

class Readers {
 public:
  // Their names, for people who look at the threads.
  Readers(std::string quick, std::string heavy)
      : quick_({.name = std::move(quick), .threads = kQuickThreads, .queue_max = kQuickMax}),
        heavy_({.name = std::move(heavy), .threads = kHeavyThreads, .queue_max = kHeavyMax}) {}

  // As TaskQueue::submit().
  [[nodiscard]] bool submit(ReadCost cost, runtime::TaskQueue::Task&& task) {
    return (cost == ReadCost::quick ? quick_ : heavy_).submit(std::move(task));
  }
  void stop() {
    quick_.stop();
    heavy_.stop();
  }

 private:
  static constexpr std::size_t kQuickThreads = 2;
  static constexpr std::size_t kQuickMax = 4'096;  // under a second of work
  // One: scans of a service take one core at most.
  static constexpr std::size_t kHeavyThreads = 1;
  static constexpr std::size_t kHeavyMax = 32;  // about three seconds of work

  runtime::TaskQueue quick_;
  runtime::TaskQueue heavy_;
};

}  // namespace penstock::service
