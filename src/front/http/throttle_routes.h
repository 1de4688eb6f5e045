// The routes that ask for decisions: /api/v1/throttle/check, …/check/batch.
#pragma once

#include <vector>

#include "base/time.h"
#include "front/http/http.h"
#include "service/throttle/throttle_service.h"

namespace penstock::front {

// The service and the clock must outlive the routes.
void add_throttle_routes(std::vector<Route>& routes, service::ThrottleService& throttle,
                         const Clock& clock);

}  // namespace penstock::front
