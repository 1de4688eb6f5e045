// The bytes of a policy's version in Redis: doubles id, version, changed in micros, 1 if it is the
// end (written by lua/policy_change.lua), then the draft. Pure; the decoder is total.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/policy/policy.h"

namespace penstock::store::redis {

std::string encode_draft(const core::PolicyDraft& draft);  // without its key
std::string encode_policy(const core::Policy& policy);
Result<core::Policy> decode_policy(std::string_view key, std::string_view bytes);

}  // namespace penstock::store::redis
