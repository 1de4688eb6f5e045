// The rules that every UsageExport keeps.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "store/quota/conformance/quota_harness.h"

namespace penstock::store::conformance {

class UsageExportSuite : public QuotaHarness {
 protected:
  static constexpr Micros kMinute = core::Minutes{1};

  void SetUp() override {
    QuotaHarness::SetUp();
    ASSERT_NE(harness_->backend().quota.usage, nullptr);
    begin_ = minute_of(now_);
  }

  UsageExport& exports() { return *harness_->backend().quota.usage; }

  // All of [from, to), by pages of `limit`.
  std::vector<UserMinute> all(Instant from, Instant to, std::size_t limit) {
    std::vector<UserMinute> out;
    std::optional<UsageMark> after;
    for (;;) {
      const auto page = exports().page(from, to, after, limit);
      EXPECT_TRUE(page) << page.error().what;
      if (!page) return out;
      EXPECT_LE(page->size(), limit);
      out.insert(out.end(), page->begin(), page->end());
      if (page->size() < limit) return out;
      after = UsageMark{.minute = page->back().minute, .user = page->back().user};
    }
  }

  Instant begin_{};
};

TEST_P(UsageExportSuite, shows_every_user_by_minute) {
  put(UserId{7}, 100);
  put(UserId{3}, 100);
  now_ = begin_ + Seconds{1};
  send(message(UserId{7}));
  send(message(UserId{7}));
  send(message(UserId{3}));
  now_ = begin_ + kMinute;
  send(message(UserId{7}));
  const UsageDelta limited[] = {
      {.user = UserId{3}, .minute = begin_, .counts = {.limited = 4}},
      {.user = UserId{5}, .minute = begin_ + kMinute, .counts = {.failed = 2}}};
  ASSERT_TRUE(quotas().record(limited));
  const std::vector<UserMinute> expected = {
      {.user = UserId{3}, .minute = begin_, .counts = {.sent = 1, .limited = 4}},
      {.user = UserId{7}, .minute = begin_, .counts = {.sent = 2}},
      {.user = UserId{5}, .minute = begin_ + kMinute, .counts = {.failed = 2}},
      {.user = UserId{7}, .minute = begin_ + kMinute, .counts = {.sent = 1}}};
  for (const std::size_t limit : {1U, 2U, 3U, 4U, 100U}) {
    EXPECT_EQ(all(begin_, begin_ + 2 * kMinute, limit), expected) << limit;
  }
  EXPECT_EQ(all(begin_ + Seconds{30}, begin_ + kMinute, 100),
            (std::vector{expected[0], expected[1]}))
      << "the minute that the begin is in";
  EXPECT_EQ(all(begin_ + kMinute, begin_ + kMinute + Seconds{1}, 100),
            (std::vector{expected[2], expected[3]}));
  EXPECT_TRUE(all(begin_ + 2 * kMinute, begin_ + 9 * kMinute, 100).empty());
  EXPECT_TRUE(all(begin_ - 9 * kMinute, begin_, 100).empty());
}

TEST_P(UsageExportSuite, agrees_with_the_usage_of_each_user) {
  Rng rng(5);
  constexpr int kUsers = 6;
  for (int user = 0; user < kUsers; ++user) put(UserId{user}, 1'000);
  for (int step = 0; step < 150; ++step) {
    now_ += Seconds{static_cast<std::int64_t>(rng.below(40))};
    const UserId user{static_cast<std::int32_t>(rng.below(kUsers))};
    if (rng.below(3) > 0) {
      send(message(user));
    } else {
      const UsageDelta delta{.user = user, .minute = minute_of(now_), .counts = {.limited = 1}};
      ASSERT_TRUE(quotas().record({&delta, 1}));
    }
  }
  const Instant to = now_ + kMinute;
  std::map<UsageMark, UsageCounts> expected;
  for (int user = 0; user < kUsers; ++user) {
    const auto points = quotas().usage(UserId{user}, begin_, to, kMany);
    ASSERT_TRUE(points);
    for (const UsagePoint& point : *points) {
      expected[{.minute = point.minute, .user = UserId{user}}] = point.counts;
    }
  }
  const std::size_t sizes[] = {1, 7, kMany};
  for (const std::size_t limit : sizes) {
    std::map<UsageMark, UsageCounts> shown;
    UsageMark last{};
    for (const UserMinute& each : all(begin_, to, limit)) {
      const UsageMark mark{.minute = each.minute, .user = each.user};
      EXPECT_LT(last, mark);
      last = mark;
      shown[mark] = each.counts;
    }
    EXPECT_EQ(shown, expected) << limit;
  }
}

TEST_P(UsageExportSuite, remembers_how_far_it_is) {
  const auto first = exports().take_turn("search", "node-1", Seconds{10}, now_);
  ASSERT_TRUE(first) << first.error().what;
  EXPECT_TRUE(first->mine);
  EXPECT_FALSE(first->done_to);
  EXPECT_EQ(exports().set_done_to("search", "node-1", begin_), true);
  now_ += Seconds{1};
  EXPECT_EQ(exports().take_turn("search", "node-1", Seconds{10}, now_)->done_to, begin_);
  EXPECT_FALSE(exports().take_turn("other", "node-1", Seconds{10}, now_)->done_to);
}

// Of a store that nodes share.
TEST_P(UsageExportSuite, one_node_at_a_time_hands_on) {
  if (harness_->backend().slots.changes == nullptr) GTEST_SKIP() << "this store has one process";
  ASSERT_TRUE(exports().take_turn("search", "node-1", Seconds{10}, now_)->mine);
  EXPECT_FALSE(exports().take_turn("search", "node-2", Seconds{10}, now_ + Seconds{9})->mine);
  EXPECT_EQ(exports().set_done_to("search", "node-2", begin_), false);
  EXPECT_TRUE(exports().take_turn("search", "node-2", Seconds{10}, now_ + Seconds{10})->mine);
  EXPECT_EQ(exports().set_done_to("search", "node-1", begin_), false);
  EXPECT_EQ(exports().set_done_to("search", "node-2", begin_), true);
}

}  // namespace penstock::store::conformance
