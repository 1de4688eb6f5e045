#include "front/intake/message_intake.h"

#include <algorithm>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "base/iso8601.h"
#include "base/rng.h"
#include "front/intake/take_messages.h"
#include "store/quota/ports.h"
#include "wire/gateway.h"

namespace penstock::front {
namespace {

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
