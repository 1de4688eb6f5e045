// Throttle calls, decisions, policies and key metrics as JSON, names as in the API contract.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "core/policy/decision.h"
#include "core/policy/policy.h"
#include "wire/json.h"

namespace penstock::wire {

// {key | keys[], cost?}. The keys are views of the document; a repeated one stands once.
Result<core::ThrottleCall> decode_throttle_call(JsonValue value);
// {key, cost?}: an entry of a batch.
Result<core::ThrottleCall> decode_throttle_entry(JsonValue value);

// The members of a policy, the key as `policyKey` or `key`; what is absent comes from `base`: the
// default policy, or the one in force for a merge. With `path_key`, the key is that one and the
// body need not have it, but must not contradict it.
Result<core::PolicyDraft> decode_policy(JsonValue value, const core::PolicyDraft& base,
                                        std::optional<std::string_view> path_key = std::nullopt);

// allowed, key, limit, remaining, resetAfterMs, retryAfterMs, policy, limits: the members alone, so
// that they can stand in an answer or behind those of an error.
void encode_decision_members(JsonWriter& out, const core::ThrottleDecision& decision);
// {allowed, key, limit, remaining, resetAfterMs, retryAfterMs, policy}
void encode_key_decision(JsonWriter& out, const core::KeyDecision& decision);
// {id, its members, version}
void encode_policy(JsonWriter& out, const core::Policy& policy);
// The same and {changedAt, deleted}: an entry of a history.
void encode_policy_version(JsonWriter& out, const core::Policy& policy);
// {key, algorithm, currentTokens, capacity, windowRequestCount, windowSeconds, status}
void encode_key_metrics(JsonWriter& out, const core::KeyMetrics& metrics);

}  // namespace penstock::wire
