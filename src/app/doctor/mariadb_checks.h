// MariaDB: whether it is there, fit and ours. The judgements are pure.
#pragma once

#include <cstdint>

#include "app/config/config.h"
#include "app/doctor/finding.h"
#include "runtime/deadline.h"
#include "store/mariadb/inspect.h"

namespace penstock::app::doctor {

// `connections` that a node opens at most.
Findings judge_mariadb(const store::mariadb::ServerView& view, std::int64_t connections,
                       std::int32_t known_schema);

Findings check_mariadb(const Config& config, const runtime::Deadline& deadline);

}  // namespace penstock::app::doctor
