// A policy says which limit holds for a key, or for all keys that match a pattern. Plain data, and
// what may stand in it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/describe.h"
#include "base/time.h"
#include "core/limits/limit.h"
#include "core/limits/reciprocal.h"

namespace penstock::core {

// What to do while the shared engine that holds the usage does not answer.
enum class OnStoreFailure : std::uint8_t { deny, allow, local };

// What people write; the store numbers it.
struct PolicyDraft {
  std::string key;  // exact, or a pattern: `*` stands for any run of characters, also none
  Limit limit;
  std::string refill_text = {};  // the rate as it was written, to show it again
  bool shadow = false;           // decides and counts, never denies
  OnStoreFailure on_store_failure = OnStoreFailure::deny;
};

struct Policy {
  std::int64_t id = 0;       // the same through all versions; 0 = the built-in default
  std::int64_t version = 0;  // from 1
  PolicyDraft draft;
  Instant changed{};
  bool deleted = false;        // only in a history
  RateReciprocals quick = {};  // of its rate; set where policies are compiled for deciding
};

inline constexpr std::string_view kDefaultPolicyKey = "default";

// What holds for keys without a policy, unless the config says otherwise: TOKEN_BUCKET, 100 tokens,
// 10 a second, window 60 s.
PolicyDraft default_policy_draft();

}  // namespace penstock::core

namespace penstock {

template <>
struct Choices<core::LimitType> {
  static constexpr std::array<std::string_view, 5> names = {
      "TOKEN_BUCKET", "GCRA", "SLIDING_WINDOW", "SLIDING_WINDOW_COUNTER", "FIXED_WINDOW"};
};

template <>
struct Choices<core::OnStoreFailure> {
  static constexpr std::array<std::string_view, 3> names = {"deny", "allow", "local"};
};

template <>
struct Description<core::PolicyDraft> {
  using Draft = core::PolicyDraft;
  using Limit = core::Limit;

  static std::string key_problem(const FieldValue& value);
  static Result<void> set_rate(void* record, FieldValue value);  // the rate and its text
  static Result<void> rule(const Draft& draft);

  static constexpr std::string_view name = "Policy";
  // The rate and its text are one field.
  static constexpr std::size_t count =
      boost::pfr::tuple_size_v<Draft> - 1 + boost::pfr::tuple_size_v<Limit> - 1;
  static constexpr std::array fields = {
      required(checked(field<&Draft::key>("policyKey",
                                          "The key, or a pattern: `*` stands for any run of "
                                          "characters."),
                       key_problem)),
      field<&Draft::limit, &Limit::type>("type", "The algorithm."),
      range(field<&Draft::limit, &Limit::capacity>(
                "capacity", "The burst of a bucket, the maximum of a window."),
            1, core::kCapacityMax),
      set_by(as(field<&Draft::refill_text>("refillRate", "Tokens per second, of the two buckets."),
                FieldKind::decimal),
             set_rate),
      range(field<&Draft::limit, &Limit::window>(
                "windowSeconds", "The window; of a bucket, how far back its metrics look."),
            core::kLimitWindowMin.count(), core::kLimitWindowMax.count()),
      field<&Draft::shadow>("shadow", "Asked and counted, but it never denies."),
      field<&Draft::on_store_failure>("onStoreFailure",
                                      "What is answered while the shared store does not answer.")};
};

}  // namespace penstock
