// wire/throttle: whatever is accepted as a call has 1 to 16 different good keys and a cost in
// range; whatever is accepted as a policy is valid, and survives being written and read again.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "core/policy/policy.h"
#include "core/policy/throttle_key.h"
#include "wire/described.h"
#include "wire/json.h"
#include "wire/throttle.h"

namespace {

using namespace penstock;

void check_call(const Result<core::ThrottleCall>& call, std::size_t keys_max) {
  if (!call) return PENSTOCK_CHECK(!call.error().what.empty());
  PENSTOCK_CHECK(call->key_count >= 1 && call->key_count <= keys_max);
  PENSTOCK_CHECK(call->cost >= -core::kCostMax && call->cost <= core::kCostMax);
  for (std::size_t i = 0; i < call->key_count; ++i) {
    PENSTOCK_CHECK(core::throttle_key_problem(call->keys[i]).empty());
    for (std::size_t j = 0; j < i; ++j) PENSTOCK_CHECK(call->keys[i] != call->keys[j]);
  }
}

void check_policy(wire::JsonValue value, std::optional<std::string_view> path_key) {
  const core::PolicyDraft defaults = core::default_policy_draft();
  const Result<core::PolicyDraft> draft = wire::decode_policy(value, defaults, path_key);
  if (!draft) return PENSTOCK_CHECK(!draft.error().what.empty());
  PENSTOCK_CHECK(check_record(*draft).has_value());
  if (path_key) PENSTOCK_CHECK(draft->key == *path_key);
  wire::JsonWriter out;
  wire::encode_policy(out, {.id = 1, .version = 1, .draft = *draft});
  const Result<wire::JsonDocument> text = wire::parse_json(out.str());
  PENSTOCK_CHECK(text.has_value());
  const Result<core::PolicyDraft> again = wire::decode_policy(text->root(), defaults);
  PENSTOCK_CHECK(again.has_value());
  PENSTOCK_CHECK(again->limit == draft->limit && differences(*again, *draft).empty());
  const auto stored = wire::from_document<core::PolicyDraft>(wire::to_document(*draft));
  PENSTOCK_CHECK(stored.has_value() && differences(*stored, *draft).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Result<wire::JsonDocument> document =
      wire::parse_json({reinterpret_cast<const char*>(data), size});
  if (!document) return 0;
  check_call(wire::decode_throttle_call(document->root()), core::kThrottleKeysMax);
  check_call(wire::decode_throttle_entry(document->root()), 1);
  check_policy(document->root(), std::nullopt);
  check_policy(document->root(), "user:*");
  return 0;
}
