// The rules that every AttemptStore keeps.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "store/slots/conformance/harness.h"

namespace penstock::store::conformance {

class AttemptSuite : public testing::TestWithParam<Subject> {
 protected:
  void SetUp() override {
    harness_ = GetParam().fresh();
    ASSERT_NE(harness_, nullptr) << "the backend under test did not start";
    ASSERT_NE(harness_->backend().quota.attempts, nullptr);
    now_ = harness_->now();
  }

  AttemptStore& store() { return *harness_->backend().quota.attempts; }
  Attempt attempt(std::int64_t number, std::string text = {}) const {
    return {.mark = {.at = now_, .number = number},
            .user = core::UserId{101},
            .outcome = AttemptOutcome::limited,
            .message = {},
            .text = std::move(text)};
  }
  std::vector<Attempt> all(Instant from, Instant to, std::size_t limit = 1'000) {
    std::vector<Attempt> out;
    std::optional<AttemptMark> after;
    for (;;) {
      const auto page = store().page(from, to, after, limit);
      EXPECT_TRUE(page) << page.error().what;
      if (!page) return out;
      EXPECT_LE(page->size(), limit);
      out.insert(out.end(), page->begin(), page->end());
      if (page->size() < limit) return out;
      after = page->back().mark;
    }
  }

  std::unique_ptr<Harness> harness_;
  Instant now_{};
};

TEST_P(AttemptSuite, keeps_what_came) {
  std::vector<Attempt> attempts = {attempt(1), attempt(2, "Grüße"),
                                   attempt(3, std::string("a\0b", 3))};
  attempts[1].outcome = AttemptOutcome::sent;
  attempts[1].message = ItemId::trusted("m-1");
  attempts[2].outcome = AttemptOutcome::failed;
  attempts[2].user = core::UserId{core::kUserIdMax};
  ASSERT_TRUE(store().append(attempts));
  harness_->reopen();
  EXPECT_EQ(all(now_, now_ + Micros{1}), attempts);
  EXPECT_TRUE(all(now_ + Micros{1}, now_ + Seconds{1}).empty());
  EXPECT_TRUE(all(now_ - Seconds{1}, now_).empty());
  EXPECT_TRUE(store().append({}));
}

TEST_P(AttemptSuite, a_write_that_is_repeated_changes_nothing) {
  const std::vector<Attempt> attempts = {attempt(5), attempt(6)};
  ASSERT_TRUE(store().append(attempts));
  ASSERT_TRUE(store().append(attempts));
  EXPECT_EQ(all(now_, now_ + Seconds{1}), attempts);
}

TEST_P(AttemptSuite, pages_join_and_the_oldest_are_forgotten_first) {
  Rng rng(27);
  std::map<AttemptMark, Attempt> model;
  const Instant begin = now_;
  for (int i = 0; i < 200; ++i) {
    now_ += Micros{rng.between(0, 2)};
    Attempt one = attempt(rng.between(0, 1LL << 62), rng.below(2) == 0 ? "text" : "");
    one.user = core::UserId{static_cast<std::int32_t>(rng.below(5))};
    if (!model.emplace(one.mark, one).second) continue;
    ASSERT_TRUE(store().append({&one, 1}));
  }
  const auto expected = [&](Instant from) {
    std::vector<Attempt> out;
    for (const auto& [mark, each] : model) {
      if (mark.at >= from) out.push_back(each);
    }
    return out;
  };
  for (const std::size_t limit : {1, 7, 1'000}) {
    EXPECT_EQ(all(begin, now_ + Micros{1}, limit), expected(begin));
  }
  const Instant middle = begin + (now_ - begin) / 2;
  EXPECT_EQ(all(middle, now_ + Micros{1}, 9), expected(middle));
  std::size_t gone = 0;
  for (;;) {
    const auto some = store().forget_attempts(middle, 13);
    ASSERT_TRUE(some) << some.error().what;
    gone += *some;
    EXPECT_EQ(all(begin, now_ + Micros{1}).size(), model.size() - gone);
    if (*some < 13) break;
  }
  EXPECT_EQ(all(begin, now_ + Micros{1}), expected(middle));
}

}  // namespace penstock::store::conformance
