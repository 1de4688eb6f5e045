#include "core/slots/full_runs.h"

#include <algorithm>
#include <iterator>

namespace penstock::core {
namespace {

// Enough to spare a long run among short ones; each look may be a cache miss of about 50 ns.
constexpr int kForgetLooks = 4;

}  // namespace

WindowIndex FullRuns::first_gap(WindowIndex from) const noexcept {
  const auto behind = runs_.upper_bound(from);
  if (behind == runs_.begin()) return from;
  return std::max(from, std::prev(behind)->second);
}

void FullRuns::insert(WindowIndex begin, WindowIndex end) {
  PENSTOCK_CHECK(begin < end);
  // [touched, behind) are the runs that overlap or border on the new one.
  const auto behind = runs_.upper_bound(end);
  auto touched = behind;
  while (touched != runs_.begin() && std::prev(touched)->second >= begin) --touched;
  if (touched == behind) {
    add(behind, begin, end);
    return;
  }
  const WindowIndex merged_end = std::max(end, std::prev(behind)->second);
  if (touched->first <= begin) {  // the usual case: a run grows at its end
    touched->second = merged_end;
    runs_.erase(std::next(touched), behind);
  } else {
    runs_.erase(touched, behind);
    runs_.emplace_hint(behind, begin, merged_end);
  }
}

void FullRuns::erase(WindowIndex window) {
  const auto behind = runs_.upper_bound(window);
  if (behind == runs_.begin()) return;
  const auto run = std::prev(behind);
  const auto [begin, end] = *run;
  if (window >= end) return;
  if (begin < window) {
    run->second = window;
  } else {
    runs_.erase(run);
  }
  if (window + 1 < end) add(behind, window + 1, end);
}

// A run that touches no other; `behind` is the one after it.
void FullRuns::add(Runs::const_iterator behind, WindowIndex begin, WindowIndex end) {
  const auto added = runs_.emplace_hint(behind, begin, end);
  if (runs_.size() <= runs_max_) return;
  const auto length = [](Runs::const_iterator run) { return run->second - run->first; };
  auto shortest = runs_.end();
  auto at = runs_.lower_bound(hand_);
  for (int look = 0; look < kForgetLooks; ++look) {
    if (at == runs_.end()) at = runs_.begin();
    if (at != added && (shortest == runs_.end() || length(at) < length(shortest))) shortest = at;
    ++at;
  }
  hand_ = std::prev(at)->second;
  runs_.erase(shortest);
}

}  // namespace penstock::core
