#include "core/policy/policy.h"

#include <utility>

#include "core/policy/throttle_key.h"

namespace penstock {

core::PolicyDraft core::default_policy_draft() {
  return {.key = std::string(kDefaultPolicyKey),
          .limit = {.type = LimitType::token_bucket,
                    .capacity = 100,
                    .refill = {.tokens = 1, .micros = 100'000},
                    .window = Seconds{60}},
          .refill_text = "10"};
}

std::string Description<core::PolicyDraft>::key_problem(const FieldValue& value) {
  return std::string(core::throttle_key_problem(std::get<std::string>(value)));
}

Result<void> Description<core::PolicyDraft>::set_rate(void* record, FieldValue value) {
  auto& draft = *static_cast<core::PolicyDraft*>(record);
  auto& text = std::get<std::string>(value);
  draft.limit.refill = PENSTOCK_TRY(core::parse_rate(text));
  draft.refill_text = std::move(text);
  return {};
}

// A window does not look at the rate, but its policy may become a bucket later.
Result<void> Description<core::PolicyDraft>::rule(const core::PolicyDraft& draft) {
  const core::Rate rate = PENSTOCK_TRY(core::parse_rate(draft.refill_text));
  if (rate == draft.limit.refill) return {};
  return invalid_field("refillRate", "must be the rate that it is written as");
}

}  // namespace penstock
