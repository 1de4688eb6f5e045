#include "front/http/routes/gateway_answers.h"

#include <chrono>
#include <utility>

#include "base/iso8601.h"
#include "wire/described.h"
#include "wire/http/errors.h"

namespace penstock::front {
namespace {

using wire::JsonWriter;

// How far a message is, in the words of whoever sent it.
std::string_view delivery_state(core::ItemState state) noexcept {
  switch (state) {
    case core::ItemState::ready:
      return "QUEUED";
    case core::ItemState::claimed:
      return "SENDING";
    case core::ItemState::dispatched:
      return "SENT";
    case core::ItemState::dead:
      return "FAILED";
    case core::ItemState::cancelled:
      return "CANCELLED";
  }
  return "";
}

void encode_delivery(JsonWriter& out, const core::Delivery& delivery) {
  out.begin_object().member("state", core::delivery_state_name(delivery.state)).key("at");
  delivery.at ? out.value(*delivery.at) : out.null();
  out.key("detail");
  delivery.detail.empty() ? out.null() : out.value(delivery.detail);
  out.member("parts", delivery.parts).member("deliveredParts", delivery.delivered).end_object();
}

Seconds whole_seconds(Millis wait) { return std::chrono::ceil<Seconds>(wait); }

}  // namespace

std::string_view GatewaySentences::of(ErrorKind kind) const noexcept {
  switch (kind) {
    case ErrorKind::invalid:
    case ErrorKind::too_large:
      return "Missing/Invalid Arguments";
    case ErrorKind::not_found:
      return not_found;
    case ErrorKind::conflict:
      return "Idempotency Key Conflict";
    case ErrorKind::forbidden:
      return "Forbidden";
    case ErrorKind::limited:
      return "Rate Limit Exceeded";
    case ErrorKind::unavailable:
    case ErrorKind::timeout:
    case ErrorKind::corrupt:
      return store_down;
    case ErrorKind::exhausted:
    case ErrorKind::overloaded:
      return "Service Unavailable";
  }
  return "Internal Server Error";
}

std::optional<Error> refusal_of(const store::Sent& sent) {
  switch (sent.result) {
    case store::SendResult::sent:
    case store::SendResult::repeated:
      return std::nullopt;
    case store::SendResult::different:
      return Error{.kind = ErrorKind::conflict,
                   .what = "this key came with another message before",
                   .field = "idempotencyKey"};
    case store::SendResult::limited:
      return Error{.kind = ErrorKind::limited,
                   .what = "the window of this user is used up",
                   .retry_after = std::chrono::ceil<Millis>(sent.retry_after)};
    case store::SendResult::never:
      return Error{.kind = ErrorKind::invalid,
                   .what = "it has more parts than a whole window allows",
                   .field = "message"};
    case store::SendResult::unknown_user:
      return Error{
          .kind = ErrorKind::not_found, .what = "this user has no config", .field = "userId"};
    case store::SendResult::pending:
      return Error{.kind = ErrorKind::conflict,
                   .what = "the first request with this key is still under way; try again",
                   .field = "idempotencyKey"};
    case store::SendResult::unpublished:
      return Error{.kind = ErrorKind::unavailable,
                   .what = "the message did not reach Kafka, and does not count"};
    case store::SendResult::unconfirmed:
      return Error{.kind = ErrorKind::unavailable,
                   .what = "Kafka did not confirm the message in time; it counts, and may be sent"};
  }
  return std::nullopt;
}

GatewaySentences GatewaySentences::about(const Result<store::Sent>& answer) const noexcept {
  const bool bus = answer && (answer->result == store::SendResult::unpublished ||
                              answer->result == store::SendResult::unconfirmed);
  GatewaySentences sentences = *this;
  if (bus) sentences.store_down = kBusDown;
  return sentences;
}

Response gateway_error(const GatewaySentences& sentences, const Error& error,
                       std::string_view request_id, Instant now) {
  Error said = error;
  said.what = sentences.of(error.kind);
  Response response = wire::error_response(said, request_id, now);
  if (error.kind == ErrorKind::corrupt) return response;  // bytes of the disk are nobody's business
  response.body.pop_back();
  response.body += ",\"detail\":";
  wire::append_json_string(response.body, error.what);
  response.body += '}';
  return response;
}

std::string encode_config(core::UserId user, const core::Quota& quota) {
  JsonWriter out;
  out.begin_object().member("userId", user.raw);
  wire::write_members(out, quota.rule, wire::Secrets::counted);
  out.member("currentCount", quota.count).member("lastRefreshTime", quota.refreshed).end_object();
  return std::move(out).take();
}

std::string encode_sent(const store::Sent& sent) {
  JsonWriter out(128);
  out.begin_object()
      .member("message", kMessageSent)
      .member("messageId", sent.id.str())
      .end_object();
  return std::move(out).take();
}

void encode_send_entry(JsonWriter& out, std::optional<std::int64_t> user,
                       const Result<store::Sent>& answer, const GatewaySentences& sentences) {
  out.begin_object().key("userId");
  user ? out.value(*user) : out.null();
  const std::optional<Error> error = answer ? refusal_of(*answer) : std::optional(answer.error());
  if (!error) {
    out.member("status", 200)
        .member("messageId", answer->id.str())
        .member("message", kMessageSent)
        .end_object();
    return;
  }
  const int status = wire::status_of(error->kind);
  out.member("status", status)
      .member("error", wire::reason_of(status))
      .member("message", sentences.about(answer).of(error->kind));
  if (!error->field.empty()) out.member("field", error->field);
  if (error->kind != ErrorKind::corrupt) out.member("detail", error->what);
  if (error->kind == ErrorKind::limited) {
    out.member("retryAfter", static_cast<std::int64_t>(whole_seconds(error->retry_after).count()));
  }
  out.end_object();
}

std::string encode_message(const service::MessageView& view) {
  JsonWriter out(384);
  out.begin_object()
      .member("messageId", view.id.str())
      .member("userId", view.user.raw)
      .member("status", view.on_bus ? "PUBLISHED" : delivery_state(view.item.state))
      .member("attempts", view.item.attempts)
      .member("provider", view.provider)
      .member("acceptedAt", view.item.created)
      .key("sentAt");
  const bool sent = view.item.state == core::ItemState::dispatched && view.item.dispatched;
  sent ? out.value(*view.item.dispatched) : out.null();
  out.key("nextTryAt");
  const bool waits = !view.on_bus && view.item.state == core::ItemState::ready;
  waits ? out.value(view.item.due) : out.null();
  out.key("lastError");
  view.item.last_error.empty() ? out.null() : out.value(view.item.last_error);
  out.key("delivery");
  view.delivery ? encode_delivery(out, *view.delivery) : static_cast<void>(out.null());
  out.end_object();
  return std::move(out).take();
}

std::string encode_usage(core::UserId user, Millis bucket, const service::UsageBuckets& buckets) {
  JsonWriter out(128 + buckets.size() * 80);
  out.begin_object()
      .member("userId", user.raw)
      .member("bucket", format_duration(bucket))
      .key("points")
      .begin_array();
  for (const store::UsagePoint& point : buckets) {
    out.begin_object()
        .member("at", point.minute)
        .member("sent", point.counts.sent)
        .member("limited", point.counts.limited)
        .member("failed", point.counts.failed)
        .end_object();
  }
  out.end_array().end_object();
  return std::move(out).take();
}

std::string encode_usage_lines(const std::vector<store::UserMinute>& minutes) {
  std::string out;
  out.reserve(minutes.size() * 96);
  for (const store::UserMinute& each : minutes) {
    JsonWriter line(96);
    line.begin_object()
        .member("at", each.minute)
        .member("userId", each.user.raw)
        .member("sent", each.counts.sent)
        .member("limited", each.counts.limited)
        .member("failed", each.counts.failed)
        .end_object();
    out += std::move(line).take();
    out += '\n';
  }
  return out;
}

std::string encode_attempt_lines(const std::vector<store::Attempt>& attempts) {
  constexpr std::string_view kOutcomes[] = {"sent", "limited", "failed"};
  std::string out;
  for (const store::Attempt& each : attempts) {
    JsonWriter line(160 + each.text.size());
    line.begin_object()
        .member("id", std::to_string(each.mark.at.time_since_epoch().count()) + "-" +
                          std::to_string(each.mark.number))
        .member("at", each.mark.at)
        .member("userId", each.user.raw)
        .member("outcome", kOutcomes[static_cast<std::size_t>(each.outcome)]);
    if (!each.message.empty()) line.member("messageId", each.message.str());
    if (!each.text.empty()) line.member("message", each.text);
    line.end_object();
    out += std::move(line).take();
    out += '\n';
  }
  return out;
}

std::string encode_top_limited(const std::vector<store::LimitedUser>& users) {
  JsonWriter out(16 + users.size() * 40);
  out.begin_array();
  for (const store::LimitedUser& user : users) {
    out.begin_object().member("userId", user.user.raw).member("limited", user.limited).end_object();
  }
  out.end_array();
  return std::move(out).take();
}

}  // namespace penstock::front
