#include "core/retention/progress.h"

#include <algorithm>

namespace penstock::core {
namespace {

// Marks stand closer the younger they are: a sixteenth of their age apart, but a second.
constexpr std::int64_t kAgePart = 16;
constexpr Micros kMarksApart = Seconds{1};

}  // namespace

void Progress::advance(Instant now, Micros elapsed) {
  Micros progress{0};
  if (!marks_.empty()) {
    const TimeMark& last = marks_.back();
    // Nodes that share the marks each measure the same time; the clock says how much of it is new.
    progress = last.progress + std::clamp<Micros>(now - last.wall, Micros{0}, elapsed);
  }
  while (!marks_.empty() && marks_.back().wall >= now) marks_.pop_back();
  marks_.push_back({.wall = now, .progress = progress});
  thin_out();
}

Instant Progress::older_than(Millis keep, Instant now) const noexcept {
  if (marks_.empty()) return kInstantMin;
  const Micros old = marks_.back().progress - keep;
  const auto behind = std::ranges::upper_bound(marks_, old, {}, &TimeMark::progress);
  if (behind == marks_.begin()) return kInstantMin;
  return std::min(std::prev(behind)->wall, now - keep);
}

void Progress::thin_out() {
  if (marks_.size() < 3) return;
  const Micros total = marks_.back().progress;
  std::size_t kept = 1;
  for (std::size_t i = 1; i + 1 < marks_.size(); ++i) {
    const Micros apart = std::max(kMarksApart, (total - marks_[i].progress) / kAgePart);
    if (marks_[i + 1].progress - marks_[kept - 1].progress <= apart) continue;
    marks_[kept++] = marks_[i];
  }
  marks_[kept++] = marks_.back();
  marks_.resize(kept);
}

}  // namespace penstock::core
