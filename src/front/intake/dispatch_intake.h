// Messages of a topic as items of one type: the value is the body of POST
// /api/v1/dispatch/{itemType}, and the key is the item's id when the body has none.
#pragma once

#include <cstddef>

#include "base/ids.h"
#include "engine/kafka/consumer.h"
#include "service/dispatch/dispatch_service.h"

namespace penstock::front {

// Each call is one enqueue, answered when it is durable. `dispatch` must outlive the handler.
kafka::Handler dispatch_intake(service::DispatchService& dispatch, ItemType type,
                               std::size_t context_bytes_max);

}  // namespace penstock::front
