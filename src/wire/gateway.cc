#include "wire/gateway.h"

#include <utility>

#include "wire/json_digest.h"
#include "wire/json_fields.h"

namespace penstock::wire {
namespace {

core::BodyDigest digest_of(const core::SendCall& call) {
  JsonDigester digester;
  digester.add(static_cast<std::int64_t>(call.user.raw)).add(std::string_view(call.message));
  if (!call.to.empty()) digester.add(std::string_view(call.to));
  return digester.finish();
}

}  // namespace

Result<QuotaCall> decode_quota_call(JsonValue value) {
  JsonFields fields(value);
  const std::int64_t user = fields.required_integer("userId");
  const std::int64_t rate_limit = fields.required_integer("rateLimit");
  const std::int64_t window = fields.required_integer("timeWindow");
  if (fields.error()) return std::unexpected(*fields.error());
  const Result<core::UserId> user_id = core::check_user_id(user);
  if (!user_id) return std::unexpected(user_id.error());
  const Result<core::QuotaRule> rule = core::check_quota_rule(rate_limit, window);
  if (!rule) return std::unexpected(rule.error());
  return QuotaCall{.user = *user_id, .rule = *rule};
}

Result<core::SendCall> decode_send_call(JsonValue value) {
  JsonFields fields(value);
  const std::int64_t user = fields.required_integer("userId");
  const std::string_view message = fields.required_string("message");
  const std::optional<std::string_view> to = fields.optional_string("to");
  const std::optional<std::string_view> key = fields.optional_string("idempotencyKey");
  if (fields.error()) return std::unexpected(*fields.error());
  const Result<core::UserId> user_id = core::check_user_id(user);
  if (!user_id) return std::unexpected(user_id.error());
  if (to && !core::is_phone_number(*to)) {
    return invalid_field("to",
                         "must be 1 to 20 digits, with a plus before an international number");
  }
  if (core::is_blank(message)) return invalid_field("message", "must not be blank");
  core::SendCall call{.user = *user_id,
                      .message = std::string(message),
                      .to = std::string(to.value_or("")),
                      .size = core::measure_sms(message),
                      .key = {},
                      .digest = {}};
  if (call.size.segments > core::kSegmentsMax) {
    return invalid_field("message", "must fit into " + std::to_string(core::kSegmentsMax) +
                                        " parts, and takes " + std::to_string(call.size.segments));
  }
  if (key) {
    if (const std::string_view problem = id_problem(*key); !problem.empty()) {
      return invalid_field("idempotencyKey", problem);
    }
    call.key = *key;
  }
  call.digest = digest_of(call);
  return call;
}

std::string encode_message_context(const core::SendCall& call, const ItemId& id, Instant accepted) {
  JsonWriter out(192 + call.message.size());
  out.begin_object().member("messageId", id.str()).member("userId", call.user.raw);
  if (!call.to.empty()) out.member("to", call.to);
  out.member("message", call.message)
      .member("encoding", core::sms_encoding_name(call.size.encoding))
      .member("segments", call.size.segments)
      .member("acceptedAt", accepted)
      .end_object();
  return std::move(out).take();
}

Result<std::string> message_line(std::string_view context) {
  const Result<JsonDocument> document = parse_json(context);
  if (!document) return std::unexpected(document.error());
  JsonFields fields(document->root());
  const std::int64_t user = fields.required_integer("userId");
  const std::string_view message = fields.required_string("message");
  if (fields.error()) return std::unexpected(*fields.error());
  return std::to_string(user) + ": " + std::string(message);
}

}  // namespace penstock::wire
