// The routes of slots and their configs: /api/v1/slots, /api/v1/windows, /admin/rate-limit.
#pragma once

#include <vector>

#include "base/time.h"
#include "front/http/http.h"
#include "service/slots/slot_service.h"

namespace penstock::front {

// The service and the clock must outlive the routes.
void add_slot_routes(std::vector<Route>& routes, service::SlotService& slots, const Clock& clock);
void add_slot_config_routes(std::vector<Route>& routes, service::SlotService& slots,
                            const Clock& clock);

}  // namespace penstock::front
