#include "core/policy/policy_rules.h"

#include <gtest/gtest.h>

#include "core/limits/limit.h"

namespace penstock::core {
namespace {

std::string field_at_fault(const PolicyDraft& draft) {
  const Result<void> valid = validate(draft);
  return valid ? "" : valid.error().field;
}

TEST(PolicyRules, accept_the_default_and_the_extremes) {
  PolicyDraft draft = default_policy_draft();
  EXPECT_EQ(field_at_fault(draft), "");
  draft.limit.capacity = kCapacityMax;
  draft.limit.window = kLimitWindowMax;
  EXPECT_EQ(field_at_fault(draft), "");
}

TEST(PolicyRules, name_the_field_at_fault) {
  const PolicyDraft good = default_policy_draft();
  PolicyDraft draft = good;
  draft.key = "a\nb";
  EXPECT_EQ(field_at_fault(draft), "policyKey");
  for (const std::int64_t capacity : {std::int64_t{0}, std::int64_t{-1}, kCapacityMax + 1}) {
    draft = good;
    draft.limit.capacity = capacity;
    EXPECT_EQ(field_at_fault(draft), "capacity");
  }
  draft = good;
  draft.limit.refill.tokens = 0;
  EXPECT_EQ(field_at_fault(draft), "refillRate");
  for (const Seconds window : {Seconds{0}, kLimitWindowMax + Seconds{1}}) {
    draft = good;
    draft.limit.window = window;
    EXPECT_EQ(field_at_fault(draft), "windowSeconds");
  }
}

TEST(PolicyRules, names_go_both_ways) {
  for (const char* name :
       {"TOKEN_BUCKET", "GCRA", "SLIDING_WINDOW", "SLIDING_WINDOW_COUNTER", "FIXED_WINDOW"}) {
    const auto type = limit_type_of(name);
    ASSERT_TRUE(type) << name;
    EXPECT_EQ(limit_type_name(*type), name);
  }
  EXPECT_FALSE(limit_type_of("token_bucket"));
  for (const char* name : {"deny", "allow", "local"}) {
    EXPECT_EQ(on_store_failure_name(*on_store_failure_of(name)), name);
  }
  EXPECT_FALSE(on_store_failure_of(""));
}

}  // namespace
}  // namespace penstock::core
