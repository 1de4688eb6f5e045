// Collects the commands that arrive while the previous batch is being executed, and executes them
// together. No timer and no added latency when idle: a batch of one leaves at once; under load the
// batch grows by itself. The queue is bounded: a full queue refuses at once.
//
// submit() is safe on any thread. `execute` runs on the batcher's own threads (one by default),
// each `done` on the thread that executed its batch; neither may throw.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <iterator>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "runtime/thread_name.h"

namespace penstock::runtime {

struct BatcherOptions {
  std::string name;         // of the threads; at most 15 characters are shown
  std::size_t workers = 1;  // batches in execution at once
  // A batch joins n others in execution only when n times this many commands wait: small batches
  // side by side would cost more than one that waited for its turn.
  std::size_t join_min = 1;
  std::size_t queue_max = 0;  // commands waiting, all groups together
  std::size_t batch_max = 0;  // commands in one batch; a larger group is a batch of its own
};

template <class Command, class Answer>
class Batcher {
 public:
  // Must give one answer per command, in order; may complete the commands before it acts on them.
  using Execute = std::function<std::vector<Answer>(std::span<Command>)>;
  using Done = std::move_only_function<void(std::vector<Answer>)>;

  Batcher(BatcherOptions options, Execute execute)
      : options_(std::move(options)), execute_(std::move(execute)) {
    PENSTOCK_CHECK(options_.workers > 0 && options_.queue_max > 0 && options_.batch_max > 0);
    for (std::size_t i = 0; i < options_.workers; ++i) {
      threads_.emplace_back([this] { run(); });
    }
  }
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;
  ~Batcher() { stop(); }

  // Takes a group of commands (not empty), whose answers reach `done` together and in order. False:
  // the queue is full or the batcher stops; nothing was taken and `done` is not called.
  [[nodiscard]] bool submit(std::vector<Command>&& group, Done&& done) {
    PENSTOCK_CHECK(!group.empty());
    {
      const std::lock_guard lock(mutex_);
      // A group larger than the whole queue is let in when nothing else waits, else it never could.
      const bool fits = waiting_ == 0 || waiting_ + group.size() <= options_.queue_max;
      if (stopping_ || !fits) return false;
      waiting_ += group.size();
      queue_.push_back({std::move(group), std::move(done)});
    }
    wake_.notify_one();
    return true;
  }

  // Executes what was taken, then ends the threads. Idempotent.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

  std::size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }

 private:
  struct Group {
    std::vector<Command> commands;
    Done done;
  };

  void run() {
    set_thread_name(options_.name);
    std::vector<Group> groups;
    std::vector<Command> commands;
    for (;;) {
      groups.clear();
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return stopping_ || may_start(); });
        if (queue_.empty()) return;
        take(groups);
        ++executing_;
      }
      execute(groups, commands);
      const std::lock_guard lock(mutex_);
      --executing_;
    }
  }

  bool may_start() const {  // under mutex_
    return !queue_.empty() && (executing_ == 0 || waiting_ >= executing_ * options_.join_min);
  }

  // Whole groups from the front, up to batch_max commands, at least one group.
  void take(std::vector<Group>& groups) {
    std::size_t taken = 0;
    while (!queue_.empty()) {
      const std::size_t size = queue_.front().commands.size();
      if (taken > 0 && taken + size > options_.batch_max) break;
      taken += size;
      groups.push_back(std::move(queue_.front()));
      queue_.pop_front();
    }
    waiting_ -= taken;
  }

  void execute(std::vector<Group>& groups, std::vector<Command>& commands) {
    if (groups.size() == 1) {
      std::vector<Answer> answers = execute_(groups.front().commands);
      PENSTOCK_CHECK(answers.size() == groups.front().commands.size());
      groups.front().done(std::move(answers));
      return;
    }
    commands.clear();
    for (Group& group : groups) {
      std::move(group.commands.begin(), group.commands.end(), std::back_inserter(commands));
    }
    std::vector<Answer> answers = execute_(commands);
    PENSTOCK_CHECK(answers.size() == commands.size());
    auto from = answers.begin();
    for (Group& group : groups) {
      const auto to = from + static_cast<std::ptrdiff_t>(group.commands.size());
      group.done({std::move_iterator(from), std::move_iterator(to)});
      from = to;
    }
  }

  const BatcherOptions options_;
  const Execute execute_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Group> queue_;    // guarded by mutex_
  std::size_t waiting_ = 0;    // guarded by mutex_
  std::size_t executing_ = 0;  // guarded by mutex_; batches
  bool stopping_ = false;      // guarded by mutex_

  std::vector<std::thread> threads_;  // last: they use all of the above
};

}  // namespace penstock::runtime
