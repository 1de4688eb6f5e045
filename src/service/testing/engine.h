// For tests: a node registry and limits that answer as they are told.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>

#include "service/testing/throttle_stores.h"
#include "store/limits/ports.h"

namespace penstock::service {

class FakeNodes final : public store::NodeRegistry {
 public:
  std::atomic<bool> away{false};
  std::atomic<std::size_t> alive{1};
  std::atomic<int> beats{0};
  std::atomic<int> left{0};

  Result<std::size_t> beat(std::string_view /*node*/, Millis /*within*/) override {
    ++beats;
    if (away) return fail(ErrorKind::unavailable, "the engine is away");
    return alive.load();
  }
  Result<void> leave(std::string_view /*node*/) override {
    ++left;
    return {};
  }
};

// FakeLimits whose apply() waits while the door is shut.
class SlowLimits final : public store::LimitStore {
 public:
  FakeLimits inner;

  void shut() {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  void open() {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
    }
    changed_.notify_all();
  }
  // Until `count` calls stand before the door.
  void await_waiting(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ >= count; });
  }

  void apply(std::span<const store::LimitRequest> requests, std::optional<Instant> now,
             std::span<Result<store::LimitAnswer>> answers) override {
    {
      std::unique_lock lock(mutex_);
      ++waiting_;
      changed_.notify_all();
      changed_.wait(lock, [this] { return open_; });
      --waiting_;
    }
    inner.apply(requests, now, answers);
  }
  Result<bool> reset(std::string_view key) override { return inner.reset(key); }
  Result<std::optional<store::KeyUse>> find(std::string_view key,
                                            std::optional<Instant> now) override {
    return inner.find(key, now);
  }
  Result<std::vector<store::KeyUse>> list(std::string_view after, std::size_t limit,
                                          std::optional<Instant> now) override {
    return inner.list(after, limit, now);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  int waiting_ = 0;
};

}  // namespace penstock::service
