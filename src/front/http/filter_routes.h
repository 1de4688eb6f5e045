// `ANY /throttle/filter`: what nginx auth_request, Traefik ForwardAuth and Caddy forward_auth ask
// before they let a request through.
#pragma once

#include <vector>

#include "base/time.h"
#include "front/http/http.h"
#include "service/throttle/throttle_service.h"
#include "wire/filter_keys.h"

namespace penstock::front {

// The service and the clock must outlive the routes.
void add_filter_routes(std::vector<Route>& routes, service::ThrottleService& throttle,
                       wire::FilterRules rules, const Clock& clock);

}  // namespace penstock::front
