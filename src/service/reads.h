// How every service answers calls that wait for the store: on threads of its own, or `overloaded`
// at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "runtime/task_queue.h"

namespace penstock::service {

// "too many payments are waiting; try again"
inline Error too_many(std::string_view what) {
  return {.kind = ErrorKind::overloaded,
          .what = "too many " + std::string(what) + " are waiting; try again"};
}

// Hands the value of `work` to `done` on a thread of `tasks`, or too_many(what) at once.
template <class T, class Work>
void answer_on(runtime::TaskQueue& tasks, std::string_view what,
               std::move_only_function<void(Result<T>)> done, Work work) {
  // Shared, so that `done` is still ours to call when the queue refuses the task.
  auto shared = std::make_shared<std::move_only_function<void(Result<T>)>>(std::move(done));
  if (!tasks.submit([shared, work = std::move(work)]() mutable { (*shared)(work()); })) {
    (*shared)(std::unexpected(too_many(what)));
  }
}

enum class ReadCost : std::uint8_t {
  quick,  // a few rows by their keys, and small changes: well under a millisecond
  heavy,  // scans: up to a tenth of a second of a core
};

// The threads for reads and small changes. Those that scan have a thread and a short queue of their
// own: however many of them are asked for, a look-up waits for look-ups only.
class Readers {
 public:
  // The threads are NAME-read and NAME-scan. `what` waits when there are too many; it outlives
  // this.
  Readers(const std::string& name, std::string_view what)
      : what_(what),
        quick_({.name = name + "-read", .threads = kQuickThreads, .queue_max = kQuickMax}),
        heavy_({.name = name + "-scan", .threads = kHeavyThreads, .queue_max = kHeavyMax}) {}

  // As answer_on().
  template <ReadCost cost = ReadCost::quick, class T, class Work>
  void read(std::move_only_function<void(Result<T>)> done, Work work) {
    answer_on(cost == ReadCost::quick ? quick_ : heavy_, what_, std::move(done), std::move(work));
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

  const std::string_view what_;
  runtime::TaskQueue quick_;
  runtime::TaskQueue heavy_;
};

}  // namespace penstock::service
