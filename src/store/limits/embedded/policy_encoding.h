// The bytes of throttle policies. Pure; decoders are total.
//
//   throttle_policy  policy key, NUL, u64 ~version (newest first)
//                    -> kFormat u64 id, u8 deleted, changed us, the document of the draft
//   meta             "policy_revision" -> kFormat u64
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/policy/policy.h"

namespace penstock::store::embedded {

inline constexpr std::string_view kPolicyRevisionKey = "policy_revision";

std::string policy_record_key(std::string_view policy_key);  // prefix of all its versions
std::string policy_record_key(std::string_view policy_key, std::int64_t version);
std::string encode_policy(const core::Policy& policy);
Result<core::Policy> decode_policy(std::string_view key, std::string_view value);

std::string encode_revision(std::uint64_t revision);
Result<std::uint64_t> decode_revision(std::string_view value);

}  // namespace penstock::store::embedded
