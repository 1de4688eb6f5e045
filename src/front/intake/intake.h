// Messages of topics as calls of the services: each message is read, all that could be are taken in
// at once, and each gets its verdict.
#pragma once

#include <cstddef>

#include "base/ids.h"
#include "base/time.h"
#include "engine/kafka/consumer.h"
#include "service/dispatch/dispatch_service.h"
#include "service/gateway/gateway_service.h"
#include "service/payments/payment_service.h"

namespace penstock::front {

// Messages of a topic as items of one type: the value is the body of POST
// /api/v1/dispatch/{itemType}, and the key is the item's id when the body has none.
// Each call is one enqueue, answered when it is durable. `dispatch` must outlive the handler.
kafka::Handler dispatch_intake(service::DispatchService& dispatch, ItemType type,
                               std::size_t context_bytes_max);

// Messages of a topic as payments: the value is the body of POST /api/v1/payments. A payment that a
// rule refuses is kept as REJECTED, as over HTTP; what is no payment, or one that is known with
// another body, is poison.
// Each call is one write, answered when it is durable. `payments` must outlive the handler.
kafka::Handler payment_intake(service::PaymentService& payments, std::size_t metadata_bytes_max);

// Messages of the gateway's topic as items for the sender: the value is `{userId}: {message}`. The
// message's id stands in its header, so that one that was published twice is one item; a record of
// another producer, which has none, gets one of its own from its place in the topic.
// Each call is one enqueue, and returns when it is durable. All must outlive the handler.
kafka::Handler message_intake(service::DispatchService& dispatch, service::GatewayService& gateway,
                              const Clock& clock);

}  // namespace penstock::front
