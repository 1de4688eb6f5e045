// Runs checks beside each other, each within its time, whatever the others do.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/time.h"
#include "daemon/doctor/finding.h"
#include "runtime/deadline.h"

namespace penstock::daemon::doctor {

struct Area {
  std::string name;  // "postgres": what is said to be late when it is
  // Called on a thread of its own. What it uses must be its own: should it come too late, it is
  // left alone and may still run when the others are done.
  std::function<Findings(const runtime::Deadline&)> check;
};

struct RunResult {
  Findings findings;          // in the order of the areas
  bool left_running = false;  // some area did not come back: leave the process without clean-up
};

// A check is told `limit` and has `grace` beyond it; then it counts as failed.
RunResult run_areas(std::vector<Area> areas, Millis limit, Millis grace);

}  // namespace penstock::daemon::doctor
