// Messages of a topic as payments: the value is the body of POST /api/v1/payments. A payment that a
// rule refuses is kept as REJECTED, as over HTTP; what is no payment, or one that is known with
// another body, is poison.
#pragma once

#include <cstddef>

#include "engine/kafka/consumer.h"
#include "service/payments/payment_service.h"

namespace penstock::front {

// Each call is one write, answered when it is durable. `payments` must outlive the handler.
kafka::Handler payment_intake(service::PaymentService& payments, std::size_t metadata_bytes_max);

}  // namespace penstock::front
