// MariaDB: whether it is there, fit and ours. The judgements are pure.
#pragma once

#include <cstdint>

#include "daemon/config/config.h"
#include "daemon/doctor/finding.h"
#include "engine/mariadb/inspect.h"
#include "runtime/deadline.h"

namespace penstock::daemon::doctor {

// `connections` that a node opens at most.
Findings judge_mariadb(const store::mariadb::ServerView& view, std::int64_t connections,
                       std::int32_t known_schema);

Findings check_mariadb(const Config& config, const runtime::Deadline& deadline);

}  // namespace penstock::daemon::doctor
