#include "library/policies.h"

#include <array>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "core/limits/limit.h"
#include "core/policy/policy.h"
#include "core/policy/throttle_key.h"

namespace penstock::library {
namespace {

constexpr std::array<std::pair<Algorithm, core::LimitType>, 5> kAlgorithms{{
    {Algorithm::token_bucket, core::LimitType::token_bucket},
    {Algorithm::gcra, core::LimitType::gcra},
    {Algorithm::sliding_window, core::LimitType::sliding_window},
    {Algorithm::sliding_window_counter, core::LimitType::sliding_window_counter},
    {Algorithm::fixed_window, core::LimitType::fixed_window},
}};

// The core names fields as the HTTP interface does.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kFields{{
    {"policyKey", "key"},
    {"refillRate", "refill"},
    {"windowSeconds", "window"},
    {"count", "refill.tokens"},
    {"period", "refill.period"},
}};

Result<core::Rate> rate_of(const Refill& refill) {
  return refill.per_second.empty() ? core::rate_per(refill.tokens, refill.period)
                                   : core::parse_rate(refill.per_second);
}

Refill refill_of(const core::PolicyDraft& draft) {
  if (!draft.refill_text.empty()) return refill_per_second(draft.refill_text);
  constexpr std::int64_t kSecond = 1'000'000;
  const core::Rate rate = draft.limit.refill;
  const std::int64_t times = kSecond / std::gcd(rate.micros, kSecond);  // to get whole seconds
  return refill_every(Seconds{rate.micros * times / kSecond}, rate.tokens * times);
}

}  // namespace

Problem problem_of(const Error& error) {
  std::string field = error.field;
  for (const auto& [theirs, ours] : kFields) {
    if (field == theirs) field = ours;
  }
  std::string_view what = error.what;
  if (what.starts_with(error.field + ": ")) what.remove_prefix(error.field.size() + 2);
  return {.field = field, .what = field + ": " + std::string(what)};
}

Expected<core::PolicyDraft> draft_of(const Policy& policy) {
  core::PolicyDraft draft{.key = policy.key,
                          .limit = {.capacity = policy.capacity, .window = policy.window},
                          .refill_text = policy.refill.per_second,
                          .shadow = policy.shadow};
  bool known = false;
  for (const auto& [algorithm, type] : kAlgorithms) {
    if (algorithm != policy.algorithm) continue;
    draft.limit.type = type;
    known = true;
  }
  if (!known) return Problem{.field = "algorithm", .what = "algorithm: is none of the five"};
  const Result<core::Rate> rate = rate_of(policy.refill);
  if (!rate) return problem_of(rate.error());
  if (const std::string_view problem = core::throttle_key_problem(draft.key); !problem.empty()) {
    return Problem{.field = "key", .what = "key: " + std::string(problem)};
  }
  const Result<core::Limit> limit =
      core::make_limit(draft.limit.type, draft.limit.capacity, *rate, draft.limit.window);
  if (!limit) return problem_of(limit.error());
  draft.limit = *limit;
  return draft;
}

Policy policy_of(const core::PolicyDraft& draft) {
  Policy policy{.key = draft.key,
                .capacity = draft.limit.capacity,
                .refill = refill_of(draft),
                .window = draft.limit.window,
                .shadow = draft.shadow};
  for (const auto& [algorithm, type] : kAlgorithms) {
    if (type == draft.limit.type) policy.algorithm = algorithm;
  }
  return policy;
}

}  // namespace penstock::library
