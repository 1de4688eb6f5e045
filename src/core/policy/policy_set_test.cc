#include "core/policy/policy_set.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>

namespace penstock::core {
namespace {

PolicySet set_of(const std::vector<std::string>& keys) {
  std::vector<Policy> policies;
  for (const std::string& key : keys) policies.push_back({.draft = {.key = key}});
  return PolicySet(std::move(policies), {.draft = {.key = "default"}});
}

TEST(PolicySet, shows_the_order) {
  const PolicySet set = set_of(
      {"user:7", "user:*", "*", "*|route:/v1/pay", "user:*|route:/v1/*", "ab*", "*ab", "a*b"});
  const auto chosen = [&](std::string_view key) { return set.match(key).draft.key; };
  EXPECT_EQ(chosen("user:7"), "user:7");  // exact before any pattern
  EXPECT_EQ(chosen("user:8"), "user:*");
  EXPECT_EQ(chosen("user:77"), "user:*");
  EXPECT_EQ(chosen("user:8|route:/v1/pay"), "user:*|route:/v1/*");  // 16 literals before 14 and 5
  EXPECT_EQ(chosen("ip:1.2.3.4|route:/v1/pay"), "*|route:/v1/pay");
  EXPECT_EQ(chosen("ip:1.2.3.4"), "*");
  EXPECT_EQ(chosen("abab"), "*ab");  // of two literals each: `*ab` < `a*b` < `ab*`
  EXPECT_EQ(chosen("abb"), "a*b");
  EXPECT_EQ(chosen("abc"), "ab*");
}

TEST(PolicySet, gives_the_fallback_where_no_policy_holds) {
  EXPECT_EQ(set_of({}).match("x").draft.key, "default");
  EXPECT_EQ(set_of({"y", "xx*"}).match("x").draft.key, "default");
}

TEST(PolicySet, counts_characters_and_not_bytes) {
  EXPECT_EQ(literal_characters("ü*é"), 2U);
  EXPECT_EQ(set_of({"ü*", "*ab"}).match("üab").draft.key, "*ab");
}

TEST(PolicySet, takes_two_stars_for_one) {
  EXPECT_EQ(set_of({"a**", "b**c"}).match("a").draft.key, "a**");
  EXPECT_EQ(set_of({"a**", "a*"}).match("ax").draft.key, "a*");
  EXPECT_EQ(set_of({"b**c"}).match("bxxc").draft.key, "b**c");
}

TEST(PolicySet, changes_one_policy_and_leaves_the_set_before_as_it_was) {
  const PolicySet before = set_of({"user:*", "user:7", "*"});
  EXPECT_TRUE(before.whole());
  const auto changed = before.with({.version = 2, .draft = {.key = "user:*"}});
  EXPECT_EQ(changed->match("user:8").version, 2);
  EXPECT_EQ(changed->size(), 3U);
  const auto less = changed->without("user:7")->without("user:*");
  EXPECT_EQ(less->match("user:7").draft.key, "*");
  EXPECT_EQ(less->size(), 1U);
  EXPECT_EQ(less->without("unknown")->size(), 1U);
  EXPECT_EQ(less->without("*")->match("x").draft.key, "default");
  EXPECT_EQ(before.match("user:8").version, 0);
  EXPECT_EQ(before.match("user:7").draft.key, "user:7");
}

TEST(PolicySet, finds_the_next_best_when_the_best_of_equal_stars_is_gone) {
  const PolicySet set = set_of({"a*", "a**", "a***", "ab*", "ab**c", "ab*c", "*"});
  EXPECT_EQ(set.without("ab*")->match("abx").draft.key, "a*");
  EXPECT_EQ(set.without("ab*")->without("a*")->match("abx").draft.key, "a**");
  EXPECT_EQ(set.without("ab*")->without("a**")->without("a*")->match("abx").draft.key, "a***");
  EXPECT_EQ(set.without("ab**c")->match("abxc").draft.key, "ab*c");
  EXPECT_EQ(set.without("ab*c")->match("abxc").draft.key, "ab**c");
}

TEST(PolicySet, compiles_little_for_a_change_among_many) {
  std::vector<std::string> keys;
  for (int i = 0; i < 10'000; ++i) keys.push_back("tenant:" + std::to_string(i) + "|*");
  const std::clock_t start = std::clock();
  auto set = set_of(keys).with({.draft = {.key = "another"}});
  const std::clock_t whole = std::clock();
  for (std::size_t i = 0; i < 100; ++i) {
    set = i % 3 == 0 ? set->without(keys[i]) : set->with({.draft = {.key = keys[i]}});
  }
  const std::clock_t changes = std::clock();
  EXPECT_LT(changes - whole, whole - start) << "a hundred changes cost less than the whole once";
}

// Backtracking would need more than the age of the universe for this one.
TEST(PolicySet, is_not_slowed_down_by_many_stars) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "a*";
  pattern += "b";
  const PolicySet set = set_of({pattern});
  EXPECT_EQ(set.match(std::string(512, 'a')).draft.key, "default");
  EXPECT_EQ(set.match(std::string(511, 'a') + "b").draft.key, pattern);
}

TEST(PolicySet, finds_its_way_among_ten_thousand_patterns_of_every_kind) {
  std::vector<std::string> keys;
  for (int i = 0; i < 2'500; ++i) {
    const std::string n = std::to_string(i);
    keys.insert(keys.end(), {"tenant:" + n + "|*", "*|route:/v1/" + n, "*x" + n + "y*",
                             "t" + n + ":*:end" + n});
  }
  const PolicySet set = set_of(keys);
  EXPECT_EQ(set.match("tenant:2499|user:1").draft.key, "tenant:2499|*");
  EXPECT_EQ(set.match("user:1|route:/v1/1234").draft.key, "*|route:/v1/1234");
  EXPECT_EQ(set.match("...x77y...").draft.key, "*x77y*");
  EXPECT_EQ(set.match("t5:anything:end5").draft.key, "t5:*:end5");
  EXPECT_EQ(set.match("t5:anything:end6").draft.key, "default");
}

}  // namespace
}  // namespace penstock::core
