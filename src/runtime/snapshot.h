// The newest version of something immutable. Reading takes no lock: each thread keeps the version
// that it used last and looks at one number to see whether it is still the newest. So a thread
// holds on to what it last read until it reads again or ends. Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace penstock::runtime {

template <class T>
class Snapshot {
 public:
  explicit Snapshot(std::shared_ptr<const T> first) : newest_(std::move(first)) {}
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  // The last call wins: whoever makes one version from the one before needs a lock of his own.
  void publish(std::shared_ptr<const T> next) {
    const std::lock_guard lock(mutex_);
    newest_.swap(next);
    stamp_.store(next_stamp(), std::memory_order_release);
  }

  // Valid until this thread calls current() of any Snapshot<T> again.
  const T& current() const { return *current_version().version; }

  // Of the newest version; never 0.
  std::uint64_t stamp() const noexcept { return stamp_.load(std::memory_order_acquire); }

  // With its stamp, which no other version of any snapshot ever has.
  struct Version {
    std::uint64_t stamp = 0;
    const T* version = nullptr;
  };
  const Version& current_version() const {
    const Version& seen = seen_[place_];
    if (seen.stamp == stamp_.load(std::memory_order_acquire)) [[likely]]
      return seen;
    return refresh();
  }

  // The same for as long as it is held.
  std::shared_ptr<const T> pin() const {
    const std::lock_guard lock(mutex_);
    return newest_;
  }

 private:
  // A few, so that a thread that uses several in turn does not read each anew.
  static constexpr std::size_t kPlaces = 8;

  [[gnu::noinline]] const Version& refresh() const {
    static thread_local std::array<std::shared_ptr<const T>, kPlaces> held;
    const std::lock_guard lock(mutex_);
    held[place_] = newest_;
    seen_[place_] = {stamp_.load(std::memory_order_relaxed), newest_.get()};
    return seen_[place_];
  }

  // From 1.
  static std::uint64_t next_stamp() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
  }

  // Without destructors, so that reading it needs no check whether it was made.
  static inline constinit thread_local std::array<Version, kPlaces> seen_{};

  // Of the newest version: no other version of any snapshot ever has the same.
  std::atomic<std::uint64_t> stamp_ = next_stamp();
  const std::size_t place_ = stamp_.load(std::memory_order_relaxed) % kPlaces;
  mutable std::mutex mutex_;
  std::shared_ptr<const T> newest_;  // guarded by mutex_
};

}  // namespace penstock::runtime
