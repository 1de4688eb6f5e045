// Temporal: whether its frontend serves the namespace.
#pragma once

#include <span>

#include "daemon/config/config.h"
#include "daemon/doctor/finding.h"
#include "runtime/deadline.h"
#include "store/queue/ports.h"

namespace penstock::daemon::doctor {

Findings check_temporal(const Config& config, std::span<const store::ItemTypeRecord> types,
                        const runtime::Deadline& deadline);

}  // namespace penstock::daemon::doctor
