// PostgreSQL: whether it is there, fit and ours. The judgements are pure.
#pragma once

#include "app/config/config.h"
#include "app/doctor/finding.h"
#include "base/time.h"
#include "runtime/deadline.h"
#include "store/postgres/inspect.h"

namespace penstock::app::doctor {

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

}  // namespace penstock::app::doctor
