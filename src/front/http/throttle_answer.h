// A throttle decision as an HTTP answer.
#pragma once

#include <string_view>

#include "base/time.h"
#include "core/policy/decision.h"
#include "front/http/http.h"

namespace penstock::front {

// 200 with the decision, or `denied_status` with the error body and the decision; the rate-limit
// headers on both.
Response throttle_response(const core::ThrottleDecision& decision, int denied_status,
                           std::string_view request_id, Instant now);

}  // namespace penstock::front
