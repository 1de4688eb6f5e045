// `penstock doctor`: every check, beside each other, each within its time.
#pragma once

#include <string>

#include "app/doctor/config_checks.h"
#include "app/doctor/finding.h"
#include "app/doctor/runner.h"
#include "base/time.h"

namespace penstock::app::doctor {

// Takes at most twice `limit` and some seconds: the item types first, then all else at once.
// Without a config that holds, only the machine is looked at. `file`: of the config, for messages.
RunResult examine(const std::string& file, const Loaded& loaded, Millis limit);

}  // namespace penstock::app::doctor
