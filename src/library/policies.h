// Policies as the library's users write them, and as the core has them. Pure.
#pragma once

#include <penstock/expected.h>
#include <penstock/policy.h>

#include "base/result.h"
#include "core/policy/policy.h"

namespace penstock::library {

// Names the field as the public struct does.
Expected<core::PolicyDraft> draft_of(const Policy& policy);
// The ratio of a refill comes back in lowest terms.
Policy policy_of(const core::PolicyDraft& draft);

Problem problem_of(const Error& error);

}  // namespace penstock::library
