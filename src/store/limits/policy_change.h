// What a change of a policy makes of the newest version of its key: the next version, or why not.
// For engines that keep all versions of all policies. Pure.
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

}  // namespace penstock::store
