#include "store/limits/policy_change.h"

#include <gtest/gtest.h>

namespace penstock::store {
namespace {

core::PolicyDraft draft(std::int64_t capacity) {
  core::PolicyDraft made;
  made.key = "k";
  made.limit.capacity = capacity;
  return made;
}

TEST(PolicyChange, numbers_versions_through_the_life_of_a_key) {
  const Instant now = from_epoch_millis(1'000);
  const auto first = next_version(PolicyChange::create, draft(1), std::nullopt, 7, now);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->id, 7);
  EXPECT_EQ(first->version, 1);
  EXPECT_EQ(first->changed, now);
  const auto second = next_version(PolicyChange::update, draft(2), *first, 8, now);
  EXPECT_EQ(second->id, 7);
  EXPECT_EQ(second->version, 2);
  const auto end = next_version(PolicyChange::remove, draft(9), *second, 9, now);
  EXPECT_TRUE(end->deleted);
  EXPECT_EQ(end->draft.limit.capacity, 2) << "an end shows what ended";
  const auto again = next_version(PolicyChange::create, draft(4), *end, 10, now);
  EXPECT_EQ(again->id, 7);
  EXPECT_EQ(again->version, 4);
  EXPECT_FALSE(again->deleted);
}

TEST(PolicyChange, is_refused_when_the_key_is_not_in_the_state_for_it) {
  const Instant now = from_epoch_millis(1'000);
  const auto first = next_version(PolicyChange::create, draft(1), std::nullopt, 7, now);
  EXPECT_EQ(next_version(PolicyChange::create, draft(1), *first, 8, now).error().kind,
            ErrorKind::conflict);
  const auto end = next_version(PolicyChange::remove, draft(1), *first, 8, now);
  for (const PolicyChange change : {PolicyChange::update, PolicyChange::remove}) {
    EXPECT_EQ(next_version(change, draft(1), std::nullopt, 8, now).error().kind,
              ErrorKind::not_found);
    EXPECT_EQ(next_version(change, draft(1), *end, 8, now).error().kind, ErrorKind::not_found);
  }
}

}  // namespace
}  // namespace penstock::store
