#include "core/policy/policy.h"

#include <gtest/gtest.h>

namespace penstock::core {
namespace {

std::string field_at_fault(const PolicyDraft& draft) {
  const Result<void> valid = check_record(draft);
  return valid ? "" : valid.error().field;
}

TEST(PolicyDraft, may_be_the_default_and_the_extremes) {
  PolicyDraft draft = default_policy_draft();
  EXPECT_EQ(field_at_fault(draft), "");
  draft.limit.capacity = kCapacityMax;
  draft.limit.window = kLimitWindowMax;
  EXPECT_EQ(field_at_fault(draft), "");
}

TEST(PolicyDraft, is_refused_with_the_field_at_fault) {
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
  draft = good;
  draft.refill_text = "11";
  EXPECT_EQ(field_at_fault(draft), "refillRate") << "the store keeps the text alone";
  for (const Seconds window : {Seconds{0}, kLimitWindowMax + Seconds{1}}) {
    draft = good;
    draft.limit.window = window;
    EXPECT_EQ(field_at_fault(draft), "windowSeconds");
  }
}

TEST(PolicyDraft, names_go_both_ways) {
  for (const char* name :
       {"TOKEN_BUCKET", "GCRA", "SLIDING_WINDOW", "SLIDING_WINDOW_COUNTER", "FIXED_WINDOW"}) {
    const auto type = choice_of<LimitType>(name);
    ASSERT_TRUE(type) << name;
    EXPECT_EQ(choice_name(*type), name);
  }
  EXPECT_EQ(choice_name(LimitType::sliding_window_counter), "SLIDING_WINDOW_COUNTER");
  EXPECT_FALSE(choice_of<LimitType>("token_bucket"));
  for (const char* name : {"deny", "allow", "local"}) {
    EXPECT_EQ(choice_name(*choice_of<OnStoreFailure>(name)), name);
  }
  EXPECT_EQ(choice_name(OnStoreFailure::local), "local");
  EXPECT_FALSE(choice_of<OnStoreFailure>(""));
}

TEST(PolicyDraft, shows_what_a_change_was) {
  const PolicyDraft before = default_policy_draft();
  PolicyDraft after = before;
  EXPECT_TRUE(differences(before, after).empty());
  after.limit.type = LimitType::gcra;
  after.shadow = true;
  EXPECT_EQ(differences(before, after), (std::vector<std::string>{"type", "shadow"}));
}

}  // namespace
}  // namespace penstock::core
