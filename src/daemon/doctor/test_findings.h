// For tests: one finding by its name, and when it is looked for.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "base/time.h"
#include "daemon/doctor/doctor.h"

namespace penstock::daemon::doctor {

inline constexpr Instant kNow = from_epoch_millis(1'800'000'000'000);

// The worst, when several have that name.
inline Finding finding_of(const Findings& findings, std::string_view name) {
  Finding found;
  int worst = -1;
  const auto weight = [](Status status) { return status == Status::skipped ? 0 : 1 + int(status); };
  for (const Finding& each : findings) {
    if (each.name != name || weight(each.status) <= worst) continue;
    worst = weight(each.status);
    found = each;
  }
  EXPECT_GE(worst, 0) << "no finding " << name;
  return found;
}

inline bool all_good(const Findings& findings) {
  return std::ranges::all_of(findings, [](const Finding& f) { return f.status == Status::ok; });
}

}  // namespace penstock::daemon::doctor
