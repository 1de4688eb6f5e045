// A few threads for blocking work that is not worth a batch (reads, admin calls). Bounded: a full
// queue refuses at once. submit() is safe on any thread; tasks must not throw.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace penstock::runtime {

struct TaskQueueOptions {
  std::string name;
  std::size_t threads = 1;
  std::size_t queue_max = 0;
};

class TaskQueue {
 public:
  using Task = std::move_only_function<void()>;

  explicit TaskQueue(TaskQueueOptions options);
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;
  ~TaskQueue();

  // False: full or stopping; the task was not taken and stays with the caller.
  [[nodiscard]] bool submit(Task&& task);

  // Runs what was taken, then ends the threads. Idempotent.
  void stop();

 private:
  void run();

  const TaskQueueOptions options_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> queue_;  // guarded by mutex_
  bool stopping_ = false;   // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace penstock::runtime
