#include "wire/throttle.h"

#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "core/limits/limit.h"
#include "core/policy/policy.h"
#include "core/policy/throttle_key.h"
#include "wire/described.h"
#include "wire/json_fields.h"

namespace penstock::wire {
namespace {

constexpr std::string_view kKeyCount = "must have 1 to 16 keys";
static_assert(core::kThrottleKeysMax == 16);

void read_key(JsonFields& fields, std::string_view field, std::string_view key,
              core::ThrottleCall& call) {
  if (const std::string_view problem = core::throttle_key_problem(key); !problem.empty()) {
    fields.problem(field, problem);
  } else if (!call.add(key)) {
    fields.problem(field, kKeyCount);
  }
}

void read_keys(JsonFields& fields, JsonValue keys, core::ThrottleCall& call) {
  if (keys.size() == 0) return fields.problem("keys", kKeyCount);
  for (JsonValue key = keys.first(); key && !fields.error(); key = key.next()) {
    if (key.type() != JsonType::string) return fields.problem("keys", "must be strings");
    read_key(fields, "keys", key.string(), call);
  }
}

void read_cost(JsonFields& fields, core::ThrottleCall& call) {
  call.cost = fields.optional_integer("cost").value_or(1);
  if (call.cost > core::kCostMax || call.cost < -core::kCostMax) {
    fields.problem("cost", "must be from -1000000000000 to 1000000000000");
  }
}

std::string read_policy_key(JsonFields& fields, std::optional<std::string_view> path_key) {
  const auto key = fields.optional_string("key");
  const auto policy_key = fields.optional_string("policyKey");
  if (key && policy_key && *key != *policy_key) {
    fields.problem("key", "must be the same as policyKey, or stand alone");
  }
  const std::string_view field = key ? "key" : "policyKey";
  const auto given = key ? key : policy_key;
  if (!given && !path_key) fields.problem("policyKey", "is required, as policyKey or key");
  if (given && path_key && *given != *path_key) {
    fields.problem(field, "must be the key of the path, or absent: a policy keeps its key");
  }
  const std::string_view chosen = path_key ? *path_key : given.value_or("");
  if (const std::string_view problem = core::throttle_key_problem(chosen); !problem.empty()) {
    fields.problem(field, problem);
  }
  return std::string(chosen);
}

// Rounded up: whoever waits this long has waited long enough.
std::int64_t wait_millis(Micros wait) {
  return wait == core::kNever ? -1 : std::chrono::ceil<Millis>(wait).count();
}

void write_status(JsonWriter& out, bool allowed, std::string_view key, const core::Policy& policy,
                  const core::LimitStatus& status) {
  out.member("allowed", allowed)
      .member("key", key)
      .member("limit", status.limit)
      .member("remaining", status.remaining)
      .member("resetAfterMs", wait_millis(status.reset_after))
      .member("retryAfterMs", allowed ? 0 : wait_millis(status.retry_after))
      .member("policy", policy.draft.key);
}

void write_policy_members(JsonWriter& out, const core::Policy& policy) {
  out.member("id", policy.id);
  write_members(out, policy.draft, Secrets::counted);
  out.member("version", policy.version);
}

}  // namespace

Result<core::ThrottleCall> decode_throttle_call(JsonValue value) {
  JsonFields fields(value);
  core::ThrottleCall call;
  const auto key = fields.optional_string("key");
  const auto keys = fields.optional_array("keys");
  if (key.has_value() == keys.has_value()) {
    fields.problem("key", key ? "must not stand beside keys" : "is required, as key or keys");
  } else if (key) {
    read_key(fields, "key", *key, call);
  } else {
    read_keys(fields, *keys, call);
  }
  read_cost(fields, call);
  if (fields.error()) return std::unexpected(*fields.error());
  return call;
}

Result<core::ThrottleCall> decode_throttle_entry(JsonValue value) {
  JsonFields fields(value);
  core::ThrottleCall call;
  read_key(fields, "key", fields.required_string("key"), call);
  read_cost(fields, call);
  if (fields.error()) return std::unexpected(*fields.error());
  return call;
}

Result<core::PolicyDraft> decode_policy(JsonValue value, const core::PolicyDraft& base,
                                        std::optional<std::string_view> path_key) {
  constexpr std::array<std::string_view, 3> kAlso = {"key", "id", "version"};
  JsonFields fields(value);
  std::string key = read_policy_key(fields, path_key);
  if (fields.error()) return std::unexpected(*fields.error());
  core::PolicyDraft draft = base;
  PENSTOCK_TRY(read_record(draft, value, {.also = kAlso}));
  draft.key = std::move(key);
  return draft;
}

void encode_decision_members(JsonWriter& out, const core::ThrottleDecision& decision) {
  write_status(out, decision.allowed, decision.key(), decision.policy(), decision.status());
  if (decision.unchecked) out.member("unchecked", true);
  out.key("limits").begin_array();
  for (std::size_t i = 0; i < decision.count; ++i) {
    const core::Policy& policy = *decision.policies[i];
    out.begin_object();
    write_status(out, decision.statuses[i].admitted, decision.keys[i], policy,
                 decision.statuses[i]);
    if (policy.draft.shadow) out.member("shadow", true);
    out.end_object();
  }
  out.end_array();
}

void encode_key_decision(JsonWriter& out, const core::KeyDecision& decision) {
  out.begin_object();
  write_status(out, decision.allowed, decision.key, *decision.policy, decision.status);
  out.end_object();
}

void encode_policy(JsonWriter& out, const core::Policy& policy) {
  out.begin_object();
  write_policy_members(out, policy);
  out.end_object();
}

void encode_policy_version(JsonWriter& out, const core::Policy& policy) {
  out.begin_object();
  write_policy_members(out, policy);
  out.member("changedAt", policy.changed).member("deleted", policy.deleted).end_object();
}

void encode_key_metrics(JsonWriter& out, const core::KeyMetrics& metrics) {
  out.begin_object()
      .member("key", metrics.key)
      .member("algorithm", choice_name(metrics.type))
      .member("currentTokens", metrics.tokens)
      .member("capacity", metrics.capacity)
      .member("windowRequestCount", metrics.window_count)
      .member("windowSeconds", metrics.window.count())
      .member("status", metrics.tokens > 0 ? "OK" : "LIMITED")
      .end_object();
}

}  // namespace penstock::wire
