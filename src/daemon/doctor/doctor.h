// `penstock doctor`: every check, beside each other, each within its time.
#pragma once

#include <string>

#include "base/time.h"
#include "daemon/doctor/config_checks.h"
#include "daemon/doctor/finding.h"
#include "daemon/doctor/runner.h"

namespace penstock::daemon::doctor {

// Takes at most twice `limit` and some seconds: the item types first, then all else at once.
// Without a config that holds, only the machine is looked at. `file`: of the config, for messages.
RunResult examine(const std::string& file, const Loaded& loaded, Millis limit);

}  // namespace penstock::daemon::doctor
