// The routes of dispatch: /api/v1/dispatch for items, /admin/dispatch/types for their settings.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/time.h"
#include "front/http/http.h"
#include "front/http/json_routes.h"
#include "service/dispatch/dispatch_service.h"

namespace penstock::front {

// The item type that a path names; answers the exchange itself (400) when it is malformed.
inline std::optional<ItemType> read_type(const Request& request, Exchange& exchange) {
  return read_path_id<ItemType>(request, exchange, 0, "itemType");
}

// The service and the clock must outlive the routes.
void add_dispatch_routes(std::vector<Route>& routes, service::DispatchService& dispatch,
                         std::size_t context_bytes_max, const Clock& clock);
void add_dispatch_type_routes(std::vector<Route>& routes, service::DispatchService& dispatch,
                              const Clock& clock);

}  // namespace penstock::front
