#include "runtime/task_queue.h"

#include <utility>

#include "base/check.h"
#include "runtime/threads.h"

namespace penstock::runtime {

TaskQueue::TaskQueue(TaskQueueOptions options) : options_(std::move(options)) {
  PENSTOCK_CHECK(options_.threads > 0 && options_.queue_max > 0);
  for (std::size_t i = 0; i < options_.threads; ++i) {
    threads_.emplace_back([this] { run(); });
  }
}

TaskQueue::~TaskQueue() { stop(); }

bool TaskQueue::submit(Task&& task) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || queue_.size() >= options_.queue_max) return false;
    queue_.push_back(std::move(task));
  }
  wake_.notify_one();
  return true;
}

void TaskQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void TaskQueue::run() {
  set_thread_name(options_.name);
  for (;;) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      task = std::move(queue_.front());
      queue_.pop_front();
    }
    task();
  }
}

}  // namespace penstock::runtime
