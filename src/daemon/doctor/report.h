// Findings as people and programs read them. Pure.
#pragma once

#include <string>

#include "daemon/doctor/finding.h"

namespace penstock::daemon::doctor {

// A line for each finding, its fix below it, the sum at the end.
std::string text_report(const Findings& findings, bool coloured);

// {"status": "ok|warnings|failed", "version", "checks": [{name, status, found, fix}], "counts":
// {…}}
std::string json_report(const Findings& findings);

}  // namespace penstock::daemon::doctor
