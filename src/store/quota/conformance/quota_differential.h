// A backend against a model of a few lines, over random steps; and many threads at once.
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include "store/quota/conformance/quota_harness.h"

namespace penstock::store::conformance {

// What the store is to do, in memory.
class QuotaModel {
 public:
  void put(UserId user, const QuotaRule& rule, Instant now) {
    quotas_[user] = core::begin_quota(rule, now);
  }
  bool remove(UserId user) { return quotas_.erase(user) > 0; }

  Sent send(const Send& send, Instant now) {
    const auto found = quotas_.find(send.user);
    if (found == quotas_.end()) return {.result = SendResult::unknown_user};
    const std::pair key(send.user, send.key);
    if (const auto known = keys_.find(key);
        !send.key.empty() && known != keys_.end() && now < known->second.at + core::kKeyTerm) {
      if (known->second.digest != send.digest) return {.result = SendResult::different};
      return {.result = SendResult::repeated, .id = known->second.id};
    }
    Quota& quota = found->second;
    if (send.cost > quota.rule.rate_limit) return {.result = SendResult::never};
    const bool over = now >= quota.refreshed + quota.rule.window;
    const std::int64_t count = over ? 0 : quota.count;
    if (count + send.cost > quota.rule.rate_limit) {
      return {.result = SendResult::limited,
              .retry_after = quota.refreshed + quota.rule.window - now};
    }
    quota.count = count + send.cost;
    if (over) quota.refreshed = now;
    if (!send.key.empty()) keys_[key] = {.at = now, .digest = send.digest, .id = send.id};
    ++usage_[send.user][minute_of(now)].sent;
    ++sent_;
    return {.result = SendResult::sent, .id = send.id};
  }

  void record(const UsageDelta& delta) { usage_[delta.user][delta.minute] += delta.counts; }

  std::optional<Quota> find(UserId user) const {
    const auto found = quotas_.find(user);
    return found == quotas_.end() ? std::nullopt : std::optional(found->second);
  }
  std::vector<UsagePoint> usage(UserId user) const {
    std::vector<UsagePoint> points;
    const auto found = usage_.find(user);
    if (found == usage_.end()) return points;
    for (const auto& [minute, counts] : found->second) points.push_back({minute, counts});
    return points;
  }
  std::uint64_t sent() const { return sent_; }

 private:
  struct Key {
    Instant at{};
    BodyDigest digest{};
    ItemId id;
  };
  std::map<UserId, Quota> quotas_;
  std::map<std::pair<UserId, std::string>, Key> keys_;
  std::map<UserId, std::map<Instant, UsageCounts>> usage_;
  std::uint64_t sent_ = 0;
};

class QuotaDifferentialSuite : public QuotaHarness {
 protected:
  static constexpr std::int32_t kUsers = 6;

  Send random_send(Rng& rng) {
    return message(UserId{static_cast<std::int32_t>(rng.below(kUsers))},
                   "m" + std::to_string(rng.below(3)),
                   rng.below(3) == 0 ? "k" + std::to_string(rng.below(8)) : "", rng.between(1, 3));
  }

  void step(Rng& rng) {
    const UserId user{static_cast<std::int32_t>(rng.below(kUsers))};
    const std::uint64_t choice = rng.below(20);
    if (choice == 0) {
      const QuotaRule rule{.rate_limit = rng.between(1, 12),
                           .window = core::Minutes{rng.between(1, 4)}};
      ASSERT_TRUE(quotas().put(user, rule, now_));
      model_.put(user, rule, now_);
    } else if (choice == 1 && rng.below(4) == 0) {
      ASSERT_EQ(quotas().remove(user), model_.remove(user));
    } else if (choice == 2) {
      const UsageDelta delta{.user = user,
                             .minute = minute_of(now_) - core::Minutes{rng.below(3)},
                             .counts = {.limited = rng.between(0, 3), .failed = 1}};
      ASSERT_TRUE(quotas().record(std::span(&delta, 1)));
      model_.record(delta);
    } else if (choice == 3 && rng.below(5) == 0) {
      now_ += core::kKeyTerm / 2;
    } else {
      send_some(rng);
    }
    now_ += Micros{rng.between(0, 40'000'000)};
  }

  void send_some(Rng& rng) {
    std::vector<Send> sends;
    for (std::uint64_t i = rng.below(12); i-- > 0;) sends.push_back(random_send(rng));
    const std::vector<Result<Sent>> answers = quotas().send(sends, now_);
    ASSERT_EQ(answers.size(), sends.size());
    for (std::size_t i = 0; i < sends.size(); ++i) {
      ASSERT_TRUE(answers[i]) << answers[i].error().what;
      const Sent expected = model_.send(sends[i], now_);
      ASSERT_EQ(answers[i]->result, expected.result) << "of send " << i;
      ASSERT_EQ(answers[i]->id, expected.id);
      ASSERT_EQ(answers[i]->retry_after, expected.retry_after);
    }
  }

  void compare() {
    for (std::int32_t user = 0; user < kUsers; ++user) {
      ASSERT_EQ(*quotas().find(UserId{user}), model_.find(UserId{user}));
      ASSERT_EQ(usage(UserId{user}, start_ - core::Minutes{9}, now_ + core::Minutes{1}),
                model_.usage(UserId{user}));
    }
    ASSERT_EQ(queued(), model_.sent());
  }

  QuotaModel model_;
  Instant start_{};
};

TEST_P(QuotaDifferentialSuite, does_as_the_model_does) {
  start_ = now_;
  Rng rng(20'261'116);
  for (int i = 0; i < 600; ++i) {
    ASSERT_NO_FATAL_FAILURE(step(rng)) << "step " << i;
    if (i % 50 == 0) {
      if (i % 200 == 0) harness_->reopen();
      ASSERT_NO_FATAL_FAILURE(compare()) << "after step " << i;
    }
  }
  compare();
}

class QuotaConcurrencySuite : public QuotaHarness {};

// Threads that send for the same users in opposite orders, with a limit that most of them miss.
TEST_P(QuotaConcurrencySuite, never_takes_more_than_the_limit) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 25;
  constexpr int kUsers = 4;
  constexpr std::int64_t kLimit = 60;
  for (int user = 0; user < kUsers; ++user) put(UserId{user}, kLimit, 1'000);
  std::vector<std::vector<Send>> work(kThreads * kRounds);
  for (std::size_t i = 0; i < work.size(); ++i) {
    for (int user = 0; user < kUsers; ++user) {
      work[i].push_back(message(UserId{i % 2 == 0 ? user : kUsers - 1 - user}));
    }
  }
  std::atomic<std::int64_t> sent{0};
  std::atomic<int> failed{0};
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < kRounds; ++round) {
        const auto& sends = work[static_cast<std::size_t>(thread * kRounds + round)];
        for (const Result<Sent>& answer : quotas().send(sends, now_)) {
          if (!answer) {
            ++failed;
          } else if (answer->result == SendResult::sent) {
            ++sent;
          }
        }
      }
    });
  }
  threads.clear();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(sent, kUsers * kLimit);
  EXPECT_EQ(queued(), static_cast<std::uint64_t>(kUsers * kLimit));
  for (int user = 0; user < kUsers; ++user) {
    EXPECT_EQ(quota(UserId{user}).count, kLimit);
    EXPECT_EQ(usage(UserId{user}, now_, now_ + Seconds{1}).at(0).counts.sent, kLimit);
  }
}

TEST_P(QuotaConcurrencySuite, one_key_at_once_is_one_message) {
  put(kAnna, 100);
  std::vector<Send> sends;
  for (int i = 0; i < 8; ++i) sends.push_back(message(kAnna, "Hello", "k"));
  std::vector<std::optional<Result<Sent>>> answers(sends.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < sends.size(); ++i) {
      threads.emplace_back(
          [&, i] { answers[i] = quotas().send(std::span(sends).subspan(i, 1), now_).front(); });
    }
  }
  int sent = 0;
  for (const auto& answer : answers) {
    ASSERT_TRUE(*answer) << answer->error().what;
    sent += (*answer)->result == SendResult::sent ? 1 : 0;
    EXPECT_EQ((*answer)->id, (*answers[0])->id);
  }
  EXPECT_EQ(sent, 1);
  EXPECT_EQ(quota(kAnna).count, 1);
  EXPECT_EQ(queued(), 1U);
}

}  // namespace penstock::store::conformance
