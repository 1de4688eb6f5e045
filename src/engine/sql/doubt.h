// Whether a batch looks first for what is there already. Most entries are new, and not looking is
// cheaper; but a batch that met a known one is sent in vain and costs a whole one. So after a batch
// that held known entries the next 50 look. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "engine/sql/errors.h"
#include "runtime/clocks.h"

namespace penstock::store {

// How a batch finds known entries; the numbers are those of assign_slots.
enum class LookUp : std::int32_t {
  trust = 0,   // not at all: the batch is refused, worth repeating, when there may be one
  before = 1,  // before the lock: refused when another batch came between
  locked = 2,  // under the lock, for the second attempt
};

class Doubt {
 public:
  // Sends a batch by `attempt(LookUp)`, again while `again(error, tried, deadline)`. An answer says
  // by `all_new(answer)` whether the batch met nothing that was known.
  template <class Attempt, class Again, class AllNew>
  auto send(const runtime::Deadline& deadline, Attempt attempt, Again again, AllNew all_new)
      -> Result<typename std::invoke_result_t<Attempt, LookUp>::value_type> {
    const bool doubtful = batches_.load(std::memory_order_relaxed) > 0;
    LookUp look_up = doubtful ? LookUp::before : LookUp::trust;
    for (int tried = 1;; ++tried, look_up = LookUp::locked) {
      auto answer = attempt(look_up);
      if (answer) {
        learn(tried == 1 && all_new(*answer));
        return std::move(*answer);
      }
      if (again(answer.error(), tried, deadline)) continue;
      Error error = std::move(answer.error().error);
      // Ours to retry, not a fault of the request.
      if (error.kind == ErrorKind::conflict) error.kind = ErrorKind::unavailable;
      return std::unexpected(std::move(error));
    }
  }

 private:
  static constexpr int kBatches = 50;

  void learn(bool all_new) noexcept {
    if (!all_new) {
      batches_.store(kBatches, std::memory_order_relaxed);
    } else if (batches_.load(std::memory_order_relaxed) > 0) {
      batches_.fetch_sub(1, std::memory_order_relaxed);
    }
  }

  std::atomic<int> batches_{0};  // that look first; a few more or less when several end at once
};

}  // namespace penstock::store
