// Tells of entries that were added a fixed time ago and are not over by then, in the order they
// came, on a thread of its own. Whoever adds an entry need not take it away: those that are over
// leave when others come. Thread-safe.
#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/time.h"
#include "runtime/clocks.h"
#include "runtime/threads.h"

namespace penstock::runtime {

template <class Entry>
class ExpiryQueue {
 public:
  using IsOver = bool (*)(const Entry&);

  // `expire` must neither throw nor block for long.
  ExpiryQueue(std::string name, Millis after, IsOver is_over, std::function<void(Entry&)> expire)
      : after_(after),
        is_over_(is_over),
        expire_(std::move(expire)),
        thread_([this, name] { run(name); }) {}
  ExpiryQueue(const ExpiryQueue&) = delete;
  ExpiryQueue& operator=(const ExpiryQueue&) = delete;
  ~ExpiryQueue() { stop(); }

  void add(Entry entry) {
    bool first = false;
    // Freed without the lock. Two for one: the queue is soon as short as what is under way.
    std::array<std::optional<Entry>, 2> over;
    {
      const std::lock_guard lock(mutex_);
      for (std::optional<Entry>& each : over) {
        if (entries_.empty() || !is_over_(entries_.front().entry)) break;
        each.emplace(std::move(entries_.front().entry));
        entries_.pop_front();
      }
      first = entries_.empty();
      entries_.push_back({Deadline(after_), std::move(entry)});
    }
    if (first) wake_.notify_one();
  }

  // What has not expired by now never does. Idempotent.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

 private:
  struct Waiting {
    Deadline deadline;
    Entry entry;
  };

  void run(const std::string& name) {
    set_thread_name(name);
    std::vector<Entry> due;
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      if (entries_.empty()) {
        wake_.wait(lock, [this] { return stopping_ || !entries_.empty(); });
        continue;
      }
      while (!entries_.empty() && entries_.front().deadline.passed()) {
        due.push_back(std::move(entries_.front().entry));
        entries_.pop_front();
      }
      if (due.empty()) {
        wake_.wait_for(lock, entries_.front().deadline.remaining(), [this] { return stopping_; });
        continue;
      }
      lock.unlock();
      for (Entry& entry : due) {
        if (!is_over_(entry)) expire_(entry);
      }
      due.clear();
      lock.lock();
    }
  }

  const Millis after_;
  const IsOver is_over_;
  const std::function<void(Entry&)> expire_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Waiting> entries_;  // guarded by mutex_
  bool stopping_ = false;        // guarded by mutex_
  std::thread thread_;           // last: it uses all of the above
};

}  // namespace penstock::runtime
