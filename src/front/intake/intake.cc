#include "front/intake/intake.h"

#include <algorithm>
#include <future>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/iso8601.h"
#include "base/rng.h"
#include "store/quota/ports.h"
#include "wire/dispatch.h"
#include "wire/gateway.h"
#include "wire/json.h"
#include "wire/payments.h"

namespace penstock::front {
namespace {

using kafka::IncomingMessage;
using kafka::Verdict;
using service::DispatchService;

kafka::Verdict poison(std::string reason) {
  return {.kind = kafka::Verdict::Kind::poison, .reason = std::move(reason)};
}

// Whether an error is the message's fault: `poison`, or the store's: `retry`.
kafka::Verdict verdict_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::invalid:
    case ErrorKind::too_large:
    case ErrorKind::not_found:  // a slot config that the message names
    case ErrorKind::conflict:
    case ErrorKind::forbidden:
    case ErrorKind::exhausted:  // no room as deep as may be looked: waiting would hold up the rest
      return poison(error.what);
    case ErrorKind::limited:
    case ErrorKind::overloaded:
    case ErrorKind::unavailable:
    case ErrorKind::timeout:
    case ErrorKind::corrupt:
      break;
  }
  return {.kind = kafka::Verdict::Kind::retry, .reason = error.what};
}

// `read(message)` -> Result<Call>; `take(calls, done)` answers each of them once, in order, here or
// on another thread; `judge(answer)` -> Verdict, there.
template <class Answer, class Read, class Take, class Judge>
std::future<std::vector<kafka::Verdict>> take_messages(
    std::span<const kafka::IncomingMessage> messages, Read&& read, Take&& take, Judge judge) {
  using Call = typename decltype(read(messages[0]))::value_type;
  std::vector<kafka::Verdict> verdicts(messages.size());
  std::vector<Call> calls;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    Result<Call> call = read(messages[i]);
    if (!call) {
      verdicts[i] = poison(call.error().what);
      continue;
    }
    calls.push_back(std::move(*call));
    places.push_back(i);
  }
  std::promise<std::vector<kafka::Verdict>> promise;
  std::future<std::vector<kafka::Verdict>> future = promise.get_future();
  take(std::move(calls), [promise = std::move(promise), verdicts = std::move(verdicts),
                          places = std::move(places), judge](std::vector<Answer> answers) mutable {
    for (std::size_t i = 0; i < places.size(); ++i) verdicts[places[i]] = judge(answers[i]);
    promise.set_value(std::move(verdicts));
  });
  return future;
}

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

using PaymentAnswer = Result<store::TakenPayment>;

kafka::Verdict judge(const PaymentAnswer& taken) {
  if (!taken) return verdict_of(taken.error());
  if (taken->result == store::TakeResult::different) {
    return poison("this payment is known with another body");
  }
  return {};
}

using kafka::IncomingMessage;
using kafka::Verdict;

Verdict verdict_of_message(const Result<store::Enqueued>& taken) {
  if (!taken) return verdict_of(taken.error());
  // A repeat of what was cancelled meanwhile is a repeat, too.
  if (taken->result != store::EnqueueResult::different) return {};
  return poison("there is another message of this id");
}

std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t hash = text.size();
  for (const char byte : text) hash = mix64(hash ^ static_cast<unsigned char>(byte));
  return hash;
}

// The same whenever the record is read.
ItemId id_of_place(const IncomingMessage& message, core::UserId user) {
  const std::uint64_t partition =
      hash_of(message.topic) ^ static_cast<std::uint32_t>(message.partition);
  const std::uint64_t place = mix64(partition) + static_cast<std::uint64_t>(message.offset);
  return core::make_message_id(message.written, user, mix64(place),
                               static_cast<std::uint16_t>(message.partition));
}

// What its header says, if that is an id of a message of this user.
ItemId id_of(const IncomingMessage& message, core::UserId user) {
  const std::string_view id = message.header(wire::kMessageIdHeader);
  if (core::user_of_message(id) == user) return ItemId::trusted(std::string(id));
  return id_of_place(message, user);
}

Result<core::ItemCall> item_of(const IncomingMessage& message, Instant now) {
  const core::SendCall call =
      PENSTOCK_TRY(wire::decode_message_line(message.value, message.header(wire::kToHeader)));
  const Result<Instant> accepted = parse_instant(message.header(wire::kAcceptedAtHeader));
  // A producer's clock may be ahead, and a message goes at once.
  const Instant at = cut_to_millis(std::min(accepted.value_or(message.written), now));
  ItemId id = id_of(message, call.user);
  std::string context = wire::encode_message_context(call, id, at);
  return core::ItemCall{.type = store::message_item_type(),
                        .id = std::move(id),
                        .due = at,
                        .slot = std::nullopt,
                        .context = std::move(context),
                        .digest = call.digest};
}

Verdict not_now(std::string reason) {
  return {.kind = Verdict::Kind::retry, .reason = std::move(reason)};
}

std::future<std::vector<Verdict>> all_later(std::size_t count, const std::string& reason) {
  std::promise<std::vector<Verdict>> promise;
  promise.set_value(std::vector<Verdict>(count, not_now(reason)));
  return promise.get_future();
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

kafka::Handler payment_intake(service::PaymentService& payments, std::size_t metadata_bytes_max) {
  return [&payments, metadata_bytes_max](std::span<const kafka::IncomingMessage> messages) {
    const auto read =
        [metadata_bytes_max](const kafka::IncomingMessage& message) -> Result<core::PaymentCall> {
      const wire::JsonDocument document = PENSTOCK_TRY(wire::parse_json(message.value));
      return wire::decode_payment_call(document.root(), metadata_bytes_max);
    };
    const auto take = [&payments](std::vector<core::PaymentCall>&& calls, auto&& done) {
      payments.take(std::move(calls), "kafka", std::forward<decltype(done)>(done));
    };
    return take_messages<PaymentAnswer>(messages, read, take, judge);
  };
}

kafka::Handler message_intake(service::DispatchService& dispatch, service::GatewayService& gateway,
                              const Clock& clock) {
  return [&dispatch, &gateway, &clock](std::span<const IncomingMessage> messages) {
    if (Result<void> made = gateway.make_item_type(); !made) {
      return all_later(messages.size(), made.error().what);
    }
    if (!dispatch.knows(store::message_item_type())) {
      // It was made a moment ago, by this node or another.
      return all_later(messages.size(), "the type SMS is not known here yet");
    }
    const auto read = [now = clock.now()](const IncomingMessage& message) {
      return item_of(message, now);
    };
    const auto take = [&](std::vector<core::ItemCall>&& calls, auto&& done) {
      dispatch.enqueue_owned(std::move(calls), "kafka", std::forward<decltype(done)>(done));
    };
    return take_messages<Result<store::Enqueued>>(messages, read, take, verdict_of_message);
  };
}

}  // namespace penstock::front
