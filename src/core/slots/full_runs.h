// The free-window index: windows known to be full, kept as runs, so that a search steps over any
// number of them in O(log runs). It is a hint that errs on one side only: a window it holds is
// full, a window it does not hold may be either. One thread at a time.
//
// Bounded: past `runs_max` runs it forgets one for each new one. A hand goes round all runs, four
// at a time, and drops the shortest of them, never the newest. To forget costs a later search one
// look per window of the run and never correctness, so short runs are the cheap ones to lose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "base/check.h"

namespace penstock::core {

// Number of a window, counted from the epoch in windows of one size.
using WindowIndex = std::int64_t;

class FullRuns {
 public:
  // 100,000 runs of about 64 bytes are 6.4 MB; a day of 4-second windows has at most 10,800 runs.
  static constexpr std::size_t kRunsMax = 100'000;

  explicit FullRuns(std::size_t runs_max = kRunsMax) noexcept : runs_max_(runs_max) {
    PENSTOCK_CHECK(runs_max > 0);
  }

  // The first window at or after `from` that is not known to be full.
  WindowIndex first_gap(WindowIndex from) const noexcept;
  bool contains(WindowIndex window) const noexcept { return first_gap(window) != window; }

  void insert(WindowIndex window) { insert(window, window + 1); }
  void insert(WindowIndex begin, WindowIndex end);  // [begin, end), begin < end
  void erase(WindowIndex window);                   // a place in it was given back
  void clear() noexcept { runs_.clear(); }

  std::size_t runs() const noexcept { return runs_.size(); }

 private:
  using Runs = std::map<WindowIndex, WindowIndex>;  // begin -> end; disjoint, never touching

  void add(Runs::const_iterator behind, WindowIndex begin, WindowIndex end);

  std::size_t runs_max_;
  WindowIndex hand_ = 0;  // where the next look for a run to forget begins
  Runs runs_;
};

}  // namespace penstock::core
