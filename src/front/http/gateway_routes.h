// The routes of the gateway: /api/config, /api/send, /api/messages, /api/analytics.
#pragma once

#include <vector>

#include "base/time.h"
#include "front/http/gateway_answers.h"
#include "front/http/http.h"
#include "service/gateway/gateway_service.h"

namespace penstock::front {

// The service, the clock and what the sentences view must outlive the routes.
void add_gateway_routes(std::vector<Route>& routes, service::GatewayService& gateway,
                        const GatewaySentences& sentences, const Clock& clock);

}  // namespace penstock::front
