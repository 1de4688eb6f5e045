// PostgreSQL: whether it is there, fit and ours. The judgements are pure.
#pragma once

#include "base/time.h"
#include "daemon/config/config.h"
#include "daemon/doctor/finding.h"
#include "engine/postgres/inspect.h"
#include "runtime/deadline.h"

namespace penstock::daemon::doctor {

// Who keeps what there, and how many connections a node opens for it.
struct PostgresUse {
  bool slots = false;
  bool throttle = false;
  bool dispatch = false;  // and with it payments and the gateway
  std::size_t connections = 0;
};
PostgresUse postgres_use(const Config& config) noexcept;

Findings judge_postgres(const store::postgres::ServerView& view, const PostgresUse& use,
                        std::int32_t known_schema);

Findings check_postgres(const Config& config, const runtime::Deadline& deadline);

}  // namespace penstock::daemon::doctor
