// The routes of dispatch: /api/v1/dispatch for items, /admin/dispatch/types for their settings.
#pragma once

#include <cstddef>
#include <vector>

#include "base/time.h"
#include "front/http/http.h"
#include "service/dispatch/dispatch_service.h"

namespace penstock::front {

// The service and the clock must outlive the routes.
void add_dispatch_routes(std::vector<Route>& routes, service::DispatchService& dispatch,
                         std::size_t context_bytes_max, const Clock& clock);
void add_dispatch_type_routes(std::vector<Route>& routes, service::DispatchService& dispatch,
                              const Clock& clock);

}  // namespace penstock::front
