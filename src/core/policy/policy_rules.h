// What may stand in a policy, and how its words are written. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "core/policy/policy.h"

namespace penstock::core {

inline constexpr std::string_view kDefaultPolicyKey = "default";

// `invalid` naming the field as JSON does.
Result<void> validate(const PolicyDraft& draft);

// What holds for keys without a policy, unless the config says otherwise: TOKEN_BUCKET, 100 tokens,
// 10 a second, window 60 s.
PolicyDraft default_policy_draft();

std::string_view limit_type_name(LimitType type) noexcept;  // "TOKEN_BUCKET"
std::optional<LimitType> limit_type_of(std::string_view name) noexcept;

std::string_view on_store_failure_name(OnStoreFailure mode) noexcept;  // "deny"
std::optional<OnStoreFailure> on_store_failure_of(std::string_view name) noexcept;

}  // namespace penstock::core
