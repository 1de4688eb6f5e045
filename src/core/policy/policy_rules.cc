#include "core/policy/policy_rules.h"

#include <array>
#include <string>
#include <utility>

#include "core/limits/limit.h"
#include "core/policy/throttle_key.h"

namespace penstock::core {
namespace {

constexpr std::array<std::pair<LimitType, std::string_view>, 5> kTypes{{
    {LimitType::token_bucket, "TOKEN_BUCKET"},
    {LimitType::gcra, "GCRA"},
    {LimitType::sliding_window, "SLIDING_WINDOW"},
    {LimitType::sliding_window_counter, "SLIDING_WINDOW_COUNTER"},
    {LimitType::fixed_window, "FIXED_WINDOW"},
}};

constexpr std::array<std::pair<OnStoreFailure, std::string_view>, 3> kModes{{
    {OnStoreFailure::deny, "deny"},
    {OnStoreFailure::allow, "allow"},
    {OnStoreFailure::local, "local"},
}};

template <class Table, class Value>
std::string_view name_in(const Table& table, Value value) noexcept {
  for (const auto& [candidate, name] : table) {
    if (candidate == value) return name;
  }
  return {};
}

template <class Value, std::size_t N>
std::optional<Value> value_in(const std::array<std::pair<Value, std::string_view>, N>& table,
                              std::string_view name) noexcept {
  for (const auto& [value, candidate] : table) {
    if (candidate == name) return value;
  }
  return std::nullopt;
}

}  // namespace

Result<void> validate(const PolicyDraft& draft) {
  if (const std::string_view problem = throttle_key_problem(draft.key); !problem.empty()) {
    return invalid_field("policyKey", problem);
  }
  const Limit& limit = draft.limit;
  // A window does not look at the rate, but its policy may become a bucket later.
  if (!valid(limit.refill)) return invalid_field("refillRate", "must be more than 0");
  PENSTOCK_TRY(make_limit(limit.type, limit.capacity, limit.refill, limit.window));
  return {};
}

PolicyDraft default_policy_draft() {
  return {.key = std::string(kDefaultPolicyKey),
          .limit = {.type = LimitType::token_bucket,
                    .capacity = 100,
                    .refill = {.tokens = 1, .micros = 100'000},
                    .window = Seconds{60}},
          .refill_text = "10"};
}

std::string_view limit_type_name(LimitType type) noexcept { return name_in(kTypes, type); }

std::optional<LimitType> limit_type_of(std::string_view name) noexcept {
  return value_in(kTypes, name);
}

std::string_view on_store_failure_name(OnStoreFailure mode) noexcept {
  return name_in(kModes, mode);
}

std::optional<OnStoreFailure> on_store_failure_of(std::string_view name) noexcept {
  return value_in(kModes, name);
}

}  // namespace penstock::core
