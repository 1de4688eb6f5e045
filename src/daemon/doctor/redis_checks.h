// Redis: whether it is there and fit to hold limits. The judgements are pure.
#pragma once

#include "daemon/config/config.h"
#include "daemon/doctor/finding.h"
#include "runtime/deadline.h"
#include "store/redis/inspect.h"

namespace penstock::daemon::doctor {

// What throttle keeps there outlives nothing else; the gateway's cache may be lost.
struct RedisUse {
  bool cluster = false;   // as configured
  bool throttle = false;  // usage and policies are there
};

Findings judge_redis(const store::redis::RedisView& view, const RedisUse& use);

Findings check_redis(const Config& config, const runtime::Deadline& deadline);

}  // namespace penstock::daemon::doctor
