// When the requests of an open loop are due. Each is due at a time of its own, whatever became of
// those before it; a latency that counts from there has the wait for a stalled server in it. Pure;
// safe on any thread.
#pragma once

#include <cstdint>

#include "base/check.h"
#include "base/time.h"

namespace penstock::tool::bench {

class Schedule {
 public:
  // The requests of `threads` threads together are due `per_second` a second; those of thread
  // `index` are every `threads`-th.
  Schedule(std::uint64_t per_second, std::uint64_t index, std::uint64_t threads) noexcept
      : per_second_(per_second), index_(index), threads_(threads) {
    PENSTOCK_CHECK(per_second > 0);
    PENSTOCK_CHECK(index < threads);
  }

  // Since the start, of the thread's request `number`, from 0. Exact: rounding does not add up.
  Micros due(std::uint64_t number) const noexcept {
    __extension__ using Wide = unsigned __int128;
    const Wide overall = static_cast<Wide>(number) * threads_ + index_;
    return Micros{static_cast<std::int64_t>(overall * 1'000'000 / per_second_)};
  }

  // How many requests of this thread are due before `end`.
  std::uint64_t count_before(Micros end) const noexcept {
    if (end <= Micros::zero()) return 0;
    // Overall number n is due before `end` when n * 10^6 < end * rate.
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(end.count()) * per_second_;
    const Wide overall = (product + 999'999) / 1'000'000;  // numbers below this one
    if (overall <= index_) return 0;
    return static_cast<std::uint64_t>((overall - index_ + threads_ - 1) / threads_);
  }

 private:
  std::uint64_t per_second_;
  std::uint64_t index_;
  std::uint64_t threads_;
};

}  // namespace penstock::tool::bench
