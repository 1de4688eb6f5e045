#include "front/http/http.h"

#include <algorithm>

namespace penstock::front {

Result<void> check_routes(std::span<const Route> routes) {
  for (const wire::RouteInfo& row : wire::kRoutes) {
    const auto handlers = std::ranges::count(routes, row.id, &Route::id);
    if (handlers == 1) continue;
    return fail(ErrorKind::invalid, "the route " + std::string(row.id) + " has " +
                                        (handlers == 0 ? "no handler" : "two handlers"));
  }
  for (const Route& route : routes) {
    if (std::ranges::count(wire::kRoutes, route.id, &wire::RouteInfo::id) == 1) continue;
    return fail(ErrorKind::invalid,
                "the handler of " + std::string(route.pattern) + " has no row in the route table");
  }
  return {};
}

}  // namespace penstock::front
