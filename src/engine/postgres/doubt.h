// Whether a batch should look for what is there already. Looking costs a part of a batch, a batch
// in vain costs a whole one: after one that held known entries, so many look first. Thread-safe.
#pragma once

#include <atomic>

namespace penstock::store::postgres {

class Doubt {
 public:
  bool is_there() const noexcept { return batches_.load(std::memory_order_relaxed) > 0; }

  // What a batch found: whether all of it was new.
  void learn(bool all_new) noexcept {
    if (!all_new) {
      batches_.store(kBatches, std::memory_order_relaxed);
    } else if (is_there()) {
      batches_.fetch_sub(1, std::memory_order_relaxed);
    }
  }

 private:
  static constexpr int kBatches = 50;

  std::atomic<int> batches_{0};  // that look first; a few more or less when several end at once
};

}  // namespace penstock::store::postgres
