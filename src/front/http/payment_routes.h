// The routes of payments: /api/v1/payments, and /admin/payments/rules.
#pragma once

#include <cstddef>
#include <vector>

#include "base/time.h"
#include "front/http/http.h"
#include "service/payments/payment_service.h"

namespace penstock::front {

// The service and the clock must outlive the routes.
void add_payment_routes(std::vector<Route>& routes, service::PaymentService& payments,
                        std::size_t metadata_bytes_max, const Clock& clock);

}  // namespace penstock::front
