// How much time a store has lived through, whatever its clock said meanwhile: what retention goes
// by beside the clock. Pure; for one thread at a time.
//
// Progress is time that a serving process measured by its monotonic clock; time while no process
// serves does not count. Marks tie it to the clock: what was written before the wall time of a mark
// is at least as old as the progress since that mark. A clock that was ahead for a while leaves
// marks in the future, which go as soon as it is set back.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "base/time.h"

namespace penstock::core {

struct TimeMark {
  Instant wall{};
  Micros progress{0};

  friend bool operator==(const TimeMark&, const TimeMark&) = default;
};

class Progress {
 public:
  Progress() = default;
  // `marks` of an earlier life, ascending in both.
  explicit Progress(std::vector<TimeMark> marks) : marks_(std::move(marks)) {}

  // `elapsed`: monotonic time since this process last called; zero when it calls first.
  void advance(Instant now, Micros elapsed);

  // What was written before the answer is at least `keep` old, by the clock and by progress.
  // kInstantMin when nothing is. Late by at most a sixteenth of `keep`, and a second.
  Instant older_than(Millis keep, Instant now) const noexcept;

  // Some 300 of them after a century.
  std::span<const TimeMark> marks() const noexcept { return marks_; }

 private:
  void thin_out();

  std::vector<TimeMark> marks_;  // ascending in both; the last one says how things stand
};

}  // namespace penstock::core
