// wire/gateway: whatever is accepted is in range, and a message survives being written for its
// provider and read again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "wire/gateway.h"
#include "wire/json.h"

namespace {

using namespace penstock;

void check_config(const Result<wire::QuotaCall>& call) {
  if (!call) return PENSTOCK_CHECK(!call.error().what.empty());
  PENSTOCK_CHECK(call->user.raw >= 0);
  PENSTOCK_CHECK(check_record(call->rule).has_value());
}

void check_send(const Result<core::SendCall>& call) {
  if (!call) return PENSTOCK_CHECK(!call.error().what.empty());
  PENSTOCK_CHECK(call->user.raw >= 0 && !core::is_blank(call->message));
  PENSTOCK_CHECK(call->size.segments >= 1 && call->size.segments <= core::kSegmentsMax);
  PENSTOCK_CHECK(call->key.empty() || id_problem(call->key).empty());
  const ItemId id = core::make_message_id(kInstantMin, call->user, 1, 2);
  PENSTOCK_CHECK(core::user_of_message(id.str()) == call->user);
  const Result<std::string> line =
      wire::message_line(wire::encode_message_context(*call, id, kInstantMin));
  PENSTOCK_CHECK(line.has_value());
  PENSTOCK_CHECK(*line == std::to_string(call->user.raw) + ": " + call->message);
  const Result<core::SendCall> again = wire::decode_message_line(*line);
  PENSTOCK_CHECK(again && again->message == call->message && again->digest == call->digest);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  PENSTOCK_CHECK(core::measure_sms(text).segments >= 1);
  if (const Result<core::SendCall> call = wire::decode_message_line(text)) check_send(*call);
  PENSTOCK_CHECK(core::time_of_message(text) >= Instant{});
  const Result<wire::JsonDocument> document = wire::parse_json(text);
  if (!document) return 0;
  check_config(wire::decode_quota_call(document->root()));
  check_send(wire::decode_send_call(document->root()));
  return 0;
}
