#include "wire/throttle.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/limits/limit.h"
#include "core/policy/policy.h"
#include "wire/described.h"

namespace penstock::wire {
namespace {

using Keys = std::vector<std::string>;

template <class Decoder>
auto decoded(std::string_view json, Decoder decoder) {
  const auto document = parse_json(json);
  EXPECT_TRUE(document) << json;
  return decoder(document->root());
}

// "keys… @cost", or the error as "field|what".
std::string call_of(std::string_view json) {
  return decoded(json, [](JsonValue value) {
    const auto call = decode_throttle_call(value);
    if (!call) return call.error().field + "|" + call.error().what;
    std::string out;
    for (std::size_t i = 0; i < call->key_count; ++i) out += std::string(call->keys[i]) + " ";
    return out + "@" + std::to_string(call->cost);
  });
}

std::string policy_problem(std::string_view json,
                           std::optional<std::string_view> path = std::nullopt) {
  return decoded(json, [&](JsonValue value) -> std::string {
    const auto draft = decode_policy(value, core::default_policy_draft(), path);
    if (draft) return "accepted";
    EXPECT_EQ(draft.error().kind, ErrorKind::invalid);
    return draft.error().field;
  });
}

core::PolicyDraft policy_of(std::string_view json,
                            std::optional<std::string_view> path = std::nullopt) {
  return decoded(json, [&](JsonValue value) {
    const auto draft = decode_policy(value, core::default_policy_draft(), path);
    EXPECT_TRUE(draft) << json;
    return draft.value_or(core::PolicyDraft{});
  });
}

TEST(ThrottleCall, has_one_key_or_several_and_a_cost) {
  EXPECT_EQ(call_of(R"({"key":"user:1"})"), "user:1 @1");
  EXPECT_EQ(call_of(R"({"key":"user:1","cost":5,"other":[1]})"), "user:1 @5");
  EXPECT_EQ(call_of(R"({"key":"a","keys":null,"cost":null})"), "a @1");
  EXPECT_EQ(call_of(R"({"keys":["a","b","a"],"cost":0})"), "a b @0");
  EXPECT_EQ(call_of(R"({"key":"a","cost":-1000000000000})"), "a @-1000000000000");
}

TEST(ThrottleCall, counts_a_repeated_key_once) {
  std::string many = R"({"keys":[)";
  for (int i = 0; i < 40; ++i) many += i == 0 ? "\"a\"" : ",\"a\"";
  EXPECT_EQ(call_of(many + "]}"), "a @1");
}

TEST(ThrottleCall, is_refused_with_the_field_named) {
  EXPECT_EQ(call_of("{}"), "key|key: is required, as key or keys");
  EXPECT_EQ(call_of(R"({"key":"a","keys":["b"]})"), "key|key: must not stand beside keys");
  EXPECT_EQ(call_of(R"({"keys":[]})"), "keys|keys: must have 1 to 16 keys");
  EXPECT_EQ(call_of(R"({"keys":[1]})"), "keys|keys: must be strings");
  EXPECT_EQ(call_of(R"({"keys":["a",""]})"), "keys|keys: must not be empty");
  EXPECT_EQ(call_of(R"({"key":"a\nb"})"), "key|key: must not contain control characters");
  EXPECT_EQ(call_of(R"({"key":5})"), "key|key: must be a string, not a number");
  EXPECT_EQ(call_of(R"({"key":"a","cost":1.5})"),
            "cost|cost: must be a whole number within 64 bits");
  EXPECT_EQ(call_of(R"({"key":"a","cost":"1"})"), "cost|cost: must be a number, not a string");
  EXPECT_EQ(call_of(R"({"key":"a","cost":1000000000001})"),
            "cost|cost: must be from -1000000000000 to 1000000000000");
  std::string many = R"({"keys":["0")";
  for (int i = 1; i < 17; ++i) many += ",\"" + std::to_string(i) + "\"";
  EXPECT_EQ(call_of(many + "]}"), "keys|keys: must have 1 to 16 keys");
}

TEST(PolicyBody, takes_what_is_absent_from_the_default) {
  const core::PolicyDraft draft = policy_of(R"({"key":"user:*"})");
  EXPECT_EQ(draft.key, "user:*");
  EXPECT_EQ(draft.limit, core::default_policy_draft().limit);
  EXPECT_EQ(draft.refill_text, "10");
  EXPECT_FALSE(draft.shadow);
}

TEST(PolicyBody, keeps_the_rate_exactly_as_written) {
  const core::PolicyDraft draft = policy_of(
      R"({"policyKey":"k","type":"GCRA","capacity":5,"refillRate":0.10,"windowSeconds":7,)"
      R"("shadow":true,"onStoreFailure":"allow"})");
  EXPECT_EQ(draft.refill_text, "0.10");
  EXPECT_EQ(draft.limit, (core::Limit{.type = core::LimitType::gcra,
                                      .capacity = 5,
                                      .refill = {1, 10'000'000},
                                      .window = Seconds{7}}));
  EXPECT_TRUE(draft.shadow);
  EXPECT_EQ(draft.on_store_failure, core::OnStoreFailure::allow);
}

TEST(PolicyBody, names_the_field_at_fault) {
  EXPECT_EQ(policy_problem("{}"), "policyKey");
  EXPECT_EQ(policy_problem(R"({"key":"a","policyKey":"b"})"), "key");
  EXPECT_EQ(policy_problem(R"({"key":"a","policyKey":"a"})"), "accepted");
  EXPECT_EQ(policy_problem(R"({"key":""})"), "key");
  EXPECT_EQ(policy_problem(R"({"key":"a","type":"LEAKY"})"), "type");
  EXPECT_EQ(policy_problem(R"({"key":"a","capacity":0})"), "capacity");
  EXPECT_EQ(policy_problem(R"({"key":"a","capacity":"5"})"), "capacity");
  EXPECT_EQ(policy_problem(R"({"key":"a","refillRate":0})"), "refillRate");
  EXPECT_EQ(policy_problem(R"({"key":"a","refillRate":-1})"), "refillRate");
  EXPECT_EQ(policy_problem(R"({"key":"a","refillRate":"1"})"), "refillRate");
  EXPECT_EQ(policy_problem(R"({"key":"a","windowSeconds":0})"), "windowSeconds");
  EXPECT_EQ(policy_problem(R"({"key":"a","windowSeconds":1.5})"), "windowSeconds");
  EXPECT_EQ(policy_problem(R"({"key":"a","shadow":1})"), "shadow");
  EXPECT_EQ(policy_problem(R"({"key":"a","onStoreFailure":"panic"})"), "onStoreFailure");
  EXPECT_EQ(policy_problem(R"({"key":"a","burst":5})"), "burst");
}

TEST(PolicyBody, of_a_path_must_not_contradict_it) {
  EXPECT_EQ(policy_of("{}", "user:1").key, "user:1");
  EXPECT_EQ(policy_of(R"({"key":"user:1"})", "user:1").key, "user:1");
  EXPECT_EQ(policy_problem(R"({"key":"user:2"})", "user:1"), "key");
  EXPECT_EQ(policy_problem(R"({"policyKey":"user:2"})", "user:1"), "policyKey");
}

TEST(PolicyBody, changes_only_what_it_has_when_it_is_merged) {
  const core::PolicyDraft in_force =
      policy_of(R"({"key":"k","type":"GCRA","refillRate":2.50,"shadow":true})");
  const auto document = parse_json(R"({"capacity":3,"shadow":null})");
  const auto merged = decode_policy(document->root(), in_force, "k");
  ASSERT_TRUE(merged) << merged.error().what;
  EXPECT_EQ(differences(in_force, *merged), std::vector<std::string>{"capacity"});
  EXPECT_EQ(merged->refill_text, "2.50");
}

TEST(PolicyDocument, keeps_every_field_as_it_was_written) {
  const core::PolicyDraft draft =
      policy_of(R"({"key":"ü*","type":"GCRA","capacity":5,"refillRate":0.10,"shadow":true,)"
                R"("onStoreFailure":"local"})");
  const std::string document = to_document(draft);
  EXPECT_EQ(document, R"({"policyKey":"ü*","type":"GCRA","capacity":5,"refillRate":0.10,)"
                      R"("windowSeconds":60,"shadow":true,"onStoreFailure":"local"})");
  const auto again = from_document<core::PolicyDraft>(document);
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_TRUE(differences(draft, *again).empty());
  EXPECT_EQ(again->limit, draft.limit);
  EXPECT_EQ(from_document<core::PolicyDraft>("{}").error().kind, ErrorKind::corrupt);
}

TEST(ThrottleJson, shows_a_policy) {
  JsonWriter out;
  core::Policy policy{.id = 3, .version = 2, .draft = core::default_policy_draft()};
  policy.draft.refill_text = "10.0";
  encode_policy(out, policy);
  EXPECT_EQ(out.str(),
            R"({"id":3,"policyKey":"default","type":"TOKEN_BUCKET","capacity":100,)"
            R"("refillRate":10.0,"windowSeconds":60,"shadow":false,"onStoreFailure":"deny",)"
            R"("version":2})");
}

TEST(ThrottleJson, shows_a_decision_by_the_limit_that_bound) {
  const core::Policy wide{.draft = {.key = "wide"}};
  const core::Policy narrow{.draft = {.key = "narrow", .shadow = true}};
  core::ThrottleDecision decision;
  decision.count = 2;
  decision.bound = 1;
  decision.keys = {"a", "b"};
  decision.policies = {&wide, &narrow};
  decision.statuses[0] = {.admitted = true, .limit = 10, .remaining = 9};
  decision.statuses[1] = {.admitted = false,
                          .limit = 5,
                          .remaining = 0,
                          .retry_after = Micros{1'500'001},
                          .reset_after = Micros{7'000'000}};
  JsonWriter out;
  out.begin_object();
  encode_decision_members(out, decision);
  out.end_object();
  EXPECT_EQ(out.str(), R"({"allowed":false,"key":"b","limit":5,"remaining":0,"resetAfterMs":7000,)"
                       R"("retryAfterMs":1501,"policy":"narrow","limits":[)"
                       R"({"allowed":true,"key":"a","limit":10,"remaining":9,"resetAfterMs":0,)"
                       R"("retryAfterMs":0,"policy":"wide"},)"
                       R"({"allowed":false,"key":"b","limit":5,"remaining":0,"resetAfterMs":7000,)"
                       R"("retryAfterMs":1501,"policy":"narrow","shadow":true}]})");
}

TEST(ThrottleJson, says_minus_one_for_never) {
  const core::Policy policy{.draft = {.key = "p"}};
  JsonWriter out;
  encode_key_decision(out, {.key = "k",
                            .policy = &policy,
                            .status = {.limit = 5, .remaining = 5, .retry_after = core::kNever}});
  EXPECT_EQ(out.str(), R"({"allowed":false,"key":"k","limit":5,"remaining":5,"resetAfterMs":0,)"
                       R"("retryAfterMs":-1,"policy":"p"})");
}

TEST(ThrottleJson, shows_the_metrics_of_a_key) {
  JsonWriter out;
  core::KeyMetrics metrics{
      .key = "user-123", .tokens = 87, .capacity = 100, .window_count = 13, .window = Seconds{60}};
  encode_key_metrics(out, metrics);
  EXPECT_EQ(out.str(),
            R"({"key":"user-123","algorithm":"TOKEN_BUCKET","currentTokens":87,"capacity":100,)"
            R"("windowRequestCount":13,"windowSeconds":60,"status":"OK"})");
  metrics.tokens = 0;
  JsonWriter limited;
  encode_key_metrics(limited, metrics);
  EXPECT_NE(limited.str().find(R"("status":"LIMITED")"), std::string::npos);
}

}  // namespace
}  // namespace penstock::wire
