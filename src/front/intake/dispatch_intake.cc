#include "front/intake/dispatch_intake.h"

#include <string>
#include <utility>
#include <vector>

#include "front/intake/take_messages.h"
#include "wire/dispatch.h"
#include "wire/json.h"

namespace penstock::front {
namespace {

using kafka::IncomingMessage;
using kafka::Verdict;
using service::DispatchService;

Verdict verdict_of_item(const Result<store::Enqueued>& taken) {
  if (!taken) return verdict_of(taken.error());
  switch (taken->result) {
    case store::EnqueueResult::created:
    case store::EnqueueResult::same:
      return {};
    case store::EnqueueResult::different:
      return poison("this item is known with another body");
    case store::EnqueueResult::cancelled:
      return poison("this item is CANCELLED");
  }
  return {};
}

Result<core::ItemCall> decode(const IncomingMessage& message, const ItemType& type,
                              std::size_t context_bytes_max) {
  const wire::JsonDocument document = PENSTOCK_TRY(wire::parse_json(message.value));
  return wire::decode_item_call(document.root(), type, context_bytes_max, message.key);
}

}  // namespace

kafka::Handler dispatch_intake(DispatchService& dispatch, ItemType type,
                               std::size_t context_bytes_max) {
  return [&dispatch, type = std::move(type),
          context_bytes_max](std::span<const IncomingMessage> messages) {
    if (!dispatch.knows(type)) {
      // Of all messages, so it is not theirs: somebody has to make the type.
      return kafka::answered(std::vector<Verdict>(
          messages.size(),
          {.kind = Verdict::Kind::retry, .reason = "there is no item type " + type.str()}));
    }
    const auto read = [&](const IncomingMessage& message) {
      return decode(message, type, context_bytes_max);
    };
    const auto take = [&](std::vector<core::ItemCall>&& calls, auto&& done) {
      dispatch.enqueue(std::move(calls), "kafka", std::forward<decltype(done)>(done));
    };
    return take_messages<Result<store::Enqueued>>(messages, read, take, verdict_of_item);
  };
}

}  // namespace penstock::front
