#include "front/intake/dispatch_intake.h"

#include <future>
#include <string>
#include <utility>
#include <vector>

#include "wire/dispatch.h"
#include "wire/json.h"

namespace penstock::front {
namespace {

using kafka::IncomingMessage;
using kafka::Verdict;
using service::DispatchService;

Verdict poison(std::string reason) {
  return {.kind = Verdict::Kind::poison, .reason = std::move(reason)};
}

Verdict verdict_of_taken(const Result<store::Enqueued>& taken) {
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
  const Result<wire::JsonDocument> document = wire::parse_json(message.value);
  if (!document) return std::unexpected(document.error());
  return wire::decode_item_call(document->root(), type, context_bytes_max, message.key);
}

}  // namespace

kafka::Verdict verdict_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::invalid:
    case ErrorKind::too_large:
    case ErrorKind::not_found:  // a slot config that the message names
    case ErrorKind::conflict:
    case ErrorKind::exhausted:  // no room as deep as may be looked: waiting would hold up the rest
      return poison(error.what);
    case ErrorKind::limited:
    case ErrorKind::overloaded:
    case ErrorKind::unavailable:
    case ErrorKind::timeout:
    case ErrorKind::corrupt:
      break;
  }
  return {.kind = Verdict::Kind::retry, .reason = error.what};
}

kafka::Handler dispatch_intake(DispatchService& dispatch, ItemType type,
                               std::size_t context_bytes_max) {
  return [&dispatch, type = std::move(type),
          context_bytes_max](std::span<const IncomingMessage> messages) {
    std::vector<Verdict> verdicts(messages.size());
    if (!dispatch.knows(type)) {
      // Of all messages, so it is not theirs: somebody has to make the type.
      for (Verdict& verdict : verdicts) {
        verdict = {.kind = Verdict::Kind::retry, .reason = "there is no item type " + type.str()};
      }
      return verdicts;
    }
    std::vector<core::ItemCall> calls;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      Result<core::ItemCall> call = decode(messages[i], type, context_bytes_max);
      if (!call) {
        verdicts[i] = poison(call.error().what);
        continue;
      }
      calls.push_back(std::move(*call));
      places.push_back(i);
    }
    std::promise<DispatchService::Taken> taken;
    dispatch.enqueue(std::move(calls), "kafka", [&taken](DispatchService::Taken answers) {
      taken.set_value(std::move(answers));
    });
    const DispatchService::Taken answers = taken.get_future().get();
    for (std::size_t i = 0; i < places.size(); ++i) {
      verdicts[places[i]] = verdict_of_taken(answers[i]);
    }
    return verdicts;
  };
}

}  // namespace penstock::front
