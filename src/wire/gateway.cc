#include "wire/gateway.h"

#include <array>
#include <charconv>
#include <utility>

#include "base/utf8.h"
#include "wire/described.h"
#include "wire/json_digest.h"
#include "wire/json_fields.h"

namespace penstock::wire {
namespace {

constexpr std::string_view kPhoneNumber =
    "must be 1 to 20 digits, with a plus before an international number";

core::BodyDigest digest_of(const core::SendCall& call) {
  JsonDigester digester;
  digester.add(static_cast<std::int64_t>(call.user.raw)).add(std::string_view(call.message));
  if (!call.to.empty()) digester.add(std::string_view(call.to));
  return digester.finish();
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

Result<core::SendCall> call_of(core::UserId user, std::string_view message, std::string_view to) {
  if (!to.empty() && !core::is_phone_number(to)) return invalid_field("to", kPhoneNumber);
  if (core::is_blank(message)) return invalid_field("message", "must not be blank");
  core::SendCall call{.user = user,
                      .message = std::string(message),
                      .to = std::string(to),
                      .size = core::measure_sms(message)};
  if (call.size.segments > core::kSegmentsMax) {
    return invalid_field("message", "must fit into " + std::to_string(core::kSegmentsMax) +
                                        " parts, and takes " + std::to_string(call.size.segments));
  }
  call.digest = digest_of(call);
  return call;
}

}  // namespace

Result<QuotaCall> decode_quota_call(JsonValue value) {
  constexpr std::array<std::string_view, 3> kAlso = {"userId", "currentCount", "lastRefreshTime"};
  JsonFields fields(value);
  const std::int64_t user = fields.required_integer("userId");
  if (fields.error()) return std::unexpected(*fields.error());
  QuotaCall call;
  call.user = PENSTOCK_TRY(core::check_user_id(user));
  PENSTOCK_TRY(
      read_record(describe<core::QuotaRule>(), &call.rule, value, {.also = kAlso, .whole = true}));
  return call;
}

Result<core::SendCall> decode_send_call(JsonValue value) {
  JsonFields fields(value);
  const std::int64_t user = fields.required_integer("userId");
  const std::string_view message = fields.required_string("message");
  const std::optional<std::string_view> to = fields.optional_string("to");
  const std::optional<std::string_view> key = fields.optional_string("idempotencyKey");
  if (fields.error()) return std::unexpected(*fields.error());
  const core::UserId user_id = PENSTOCK_TRY(core::check_user_id(user));
  if (to && to->empty()) return invalid_field("to", kPhoneNumber);
  Result<core::SendCall> call = call_of(user_id, message, to.value_or(""));
  if (!call || !key) return call;
  if (const std::string_view problem = id_problem(*key); !problem.empty()) {
    return invalid_field("idempotencyKey", problem);
  }
  call->key = *key;
  return call;
}

std::string encode_message_line(core::UserId user, std::string_view message) {
  return std::to_string(user.raw) + ": " + std::string(message);
}

Result<core::SendCall> decode_message_line(std::string_view line, std::string_view to) {
  const std::size_t colon = line.find(": ");
  const std::string_view digits = line.substr(0, colon == line.npos ? 0 : colon);
  std::int64_t user = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), user);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) {
    return fail(ErrorKind::invalid, "a message is written as `{userId}: {message}`");
  }
  const core::UserId user_id = PENSTOCK_TRY(core::check_user_id(user));
  const std::string_view message = line.substr(colon + 2);
  if (!is_utf8(message)) return invalid_field("message", "must be UTF-8");
  return call_of(user_id, message, to);
}

bool is_traceparent(std::string_view text) noexcept {
  constexpr std::string_view kForm = "vv-tttttttttttttttttttttttttttttttt-pppppppppppppppp-ff";
  if (text.size() != kForm.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool hex = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
    if (kForm[i] == '-' ? text[i] != '-' : !hex) return false;
  }
  return true;
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
  const JsonDocument document = PENSTOCK_TRY(parse_json(context));
  JsonFields fields(document.root());
  const std::int64_t user = fields.required_integer("userId");
  const std::string_view message = fields.required_string("message");
  if (fields.error()) return std::unexpected(*fields.error());
  return std::to_string(user) + ": " + std::string(message);
}

}  // namespace penstock::wire
