// What engines that keep all versions of all policies share: what a change makes of the newest
// version of a key, and a version as it is stored. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "core/policy/policy.h"

namespace penstock::store {

enum class PolicyChange { create, update, remove };

// `newest`: the last version of `draft.key`, an end (deleted) among them. `fresh_id`: for a key
// that never had a policy. Of a removal only the key of the draft counts.
Result<core::Policy> next_version(PolicyChange change, const core::PolicyDraft& draft,
                                  const std::optional<core::Policy>& newest, std::int64_t fresh_id,
                                  Instant now);

// A version whose draft is kept as its document (wire/described.h). `corrupt` when that is none.
Result<core::Policy> stored_policy(core::Policy version, std::string_view document);

}  // namespace penstock::store
