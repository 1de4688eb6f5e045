// Collects the commands that arrive while the previous batch is being executed, and executes them
// together. No timer and no added latency when idle: a batch of one leaves at once; under load the
// batch grows by itself. The queue is bounded: a full queue refuses at once.
//
// submit() is safe on any thread. `execute` runs on the batcher's own threads (one by default),
// each `done` on the thread that executed its batch. A batch that throws (no memory, say) fails its
// commands: with `unavailable`, or with Answer{} when that is no Result. A `done` that throws is
// dropped.
//
// What waits here is bounded in commands. Its bytes are charged to the memory budget by whoever
// submits, until `done`: so the commands are gone by the time `done` is called.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <iterator>
#include <mutex>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "runtime/threads.h"

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
    std::vector<std::size_t> sizes;
    for (const Group& group : groups) sizes.push_back(group.commands.size());
    std::vector<Answer> answers;
    try {
      answers = execute_(gathered(groups, commands));
    } catch (const std::exception& error) {
      answers = failures(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}), error);
    }
    for (Group& group : groups) std::vector<Command>().swap(group.commands);
    commands.clear();
    PENSTOCK_CHECK(answers.size() == std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}));
    if (groups.size() == 1) return give(groups.front(), std::move(answers));
    auto from = answers.begin();
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const auto to = from + static_cast<std::ptrdiff_t>(sizes[i]);
      give(groups[i], {std::move_iterator(from), std::move_iterator(to)});
      from = to;
    }
  }

  static void give(Group& group, std::vector<Answer>&& answers) {
    try {
      group.done(std::move(answers));
    } catch (const std::exception&) {
      // Whoever waits for it learns that it was dropped.
    }
  }

  std::span<Command> gathered(std::vector<Group>& groups, std::vector<Command>& commands) {
    if (groups.size() == 1) return groups.front().commands;
    for (Group& group : groups) {
      std::move(group.commands.begin(), group.commands.end(), std::back_inserter(commands));
    }
    return commands;
  }

  static std::vector<Answer> failures(std::size_t count, const std::exception& error) {
    if constexpr (std::is_constructible_v<Answer, std::unexpected<Error>>) {
      const Error failed{.kind = ErrorKind::unavailable,
                         .what = std::string("the batch failed: ") + error.what()};
      return std::vector<Answer>(count, Answer(std::unexpected(failed)));
    } else {
      return std::vector<Answer>(count);
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
