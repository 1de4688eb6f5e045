// Messages of the gateway's topic as items for the sender: the value is `{userId}: {message}`. The
// message's id stands in its header, so that one that was published twice is one item; a record of
// another producer, which has none, gets one of its own from its place in the topic.
#pragma once

#include "base/time.h"
#include "engine/kafka/consumer.h"
#include "service/dispatch/dispatch_service.h"
#include "service/gateway/gateway_service.h"

namespace penstock::front {

// Each call is one enqueue, and returns when it is durable. All must outlive the handler.
kafka::Handler message_intake(service::DispatchService& dispatch, service::GatewayService& gateway,
                              const Clock& clock);

}  // namespace penstock::front
