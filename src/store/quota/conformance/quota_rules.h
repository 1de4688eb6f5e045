// The rules of QuotaStore, one at a time.
#pragma once

#include "store/quota/conformance/quota_harness.h"

namespace penstock::store::conformance {

class QuotaSuite : public QuotaHarness {};

TEST_P(QuotaSuite, keeps_a_config_and_begins_a_window_with_it) {
  EXPECT_EQ(*quotas().find(kAnna), std::nullopt);
  const Quota made = put(kAnna, 10, 5);
  EXPECT_EQ(made.rule, (QuotaRule{.rate_limit = 10, .window = core::Minutes{5}}));
  EXPECT_EQ(made.count, 0);
  EXPECT_EQ(made.refreshed, now_);
  EXPECT_EQ(quota(kAnna), made);
  harness_->reopen();
  EXPECT_EQ(quota(kAnna), made);
}

TEST_P(QuotaSuite, keeps_the_largest_config_there_can_be) {
  const Quota made =
      put(UserId{core::kUserIdMax}, core::kRateLimitMax, core::kTimeWindowMax.count());
  EXPECT_EQ(quota(UserId{core::kUserIdMax}), made);
  EXPECT_EQ(send(message(UserId{core::kUserIdMax})).result, SendResult::sent);
  put(UserId{0}, 1, 1);
  EXPECT_EQ(send(message(UserId{0})).result, SendResult::sent);
}

TEST_P(QuotaSuite, a_changed_config_begins_anew) {
  put(kAnna, 1);
  EXPECT_EQ(send(message(kAnna)).result, SendResult::sent);
  EXPECT_EQ(send(message(kAnna)).result, SendResult::limited);
  now_ += Seconds{10};
  const Quota changed = put(kAnna, 2, 7);
  EXPECT_EQ(changed.count, 0);
  EXPECT_EQ(changed.refreshed, now_);
  EXPECT_EQ(send(message(kAnna)).result, SendResult::sent);
}

TEST_P(QuotaSuite, a_config_that_is_removed_is_gone_with_its_count) {
  EXPECT_EQ(quotas().remove(kAnna), false);
  put(kAnna, 1);
  const Sent sent = send(message(kAnna));
  EXPECT_EQ(quotas().remove(kAnna), true);
  EXPECT_EQ(*quotas().find(kAnna), std::nullopt);
  EXPECT_EQ(send(message(kAnna)).result, SendResult::unknown_user);
  EXPECT_TRUE(is_queued(sent.id)) << "what was taken is sent";
  EXPECT_EQ(usage(kAnna, now_, now_ + Seconds{1}).size(), 1U) << "and stays counted";
}

TEST_P(QuotaSuite, takes_messages_up_to_the_limit) {
  put(kAnna, 3);
  std::vector<Send> sends;
  for (int i = 0; i < 5; ++i) sends.push_back(message(kAnna, "m" + std::to_string(i)));
  const std::vector<Sent> sent = send(sends);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(sent[i].result, i < 3 ? SendResult::sent : SendResult::limited);
    EXPECT_EQ(is_queued(sends[i].id), i < 3);
  }
  EXPECT_EQ(sent[4].retry_after, core::Minutes{5});
  EXPECT_EQ(quota(kAnna).count, 3);
  EXPECT_EQ(queued(), 3U);
  harness_->reopen();
  EXPECT_EQ(quota(kAnna).count, 3);
  EXPECT_EQ(queued(), 3U);
  EXPECT_EQ(send(message(kAnna)).result, SendResult::limited);
}

TEST_P(QuotaSuite, a_window_of_a_clock_that_was_ahead_ends_a_window_from_now) {
  put(kAnna, 2, 1);
  put(kBoris, 2, 1);
  const Instant today = now_;
  now_ += std::chrono::days{1};
  EXPECT_EQ(send(message(kAnna)).result, SendResult::sent);
  EXPECT_EQ(send(message(kAnna)).result, SendResult::sent);
  EXPECT_EQ(send(message(kBoris)).result, SendResult::sent);
  now_ = today + Seconds{5};
  EXPECT_EQ(send(message(kAnna)).retry_after, core::Minutes{1});
  EXPECT_EQ(send(message(kBoris)).result, SendResult::sent);
  harness_->reopen();
  now_ += Seconds{59};
  const std::vector<Sent> sent = send({message(kAnna), message(kBoris)});
  EXPECT_EQ(sent[0].retry_after, Seconds{1}) << "the window stands still";
  EXPECT_EQ(sent[1].retry_after, Seconds{1});
  now_ += Seconds{1};
  EXPECT_EQ(send(message(kAnna)).result, SendResult::sent);
  EXPECT_EQ(send(message(kBoris)).result, SendResult::sent);
}

TEST_P(QuotaSuite, one_users_limit_is_not_anothers) {
  put(kAnna, 1);
  put(kBoris, 2);
  const std::vector<Sent> sent =
      send({message(kBoris), message(kAnna), message(kAnna), message(kBoris), message(UserId{7})});
  EXPECT_EQ(sent[0].result, SendResult::sent);
  EXPECT_EQ(sent[1].result, SendResult::sent);
  EXPECT_EQ(sent[2].result, SendResult::limited);
  EXPECT_EQ(sent[3].result, SendResult::sent);
  EXPECT_EQ(sent[4].result, SendResult::unknown_user);
  EXPECT_EQ(queued(), 3U);
}

TEST_P(QuotaSuite, a_window_that_is_over_begins_anew_with_the_next_message) {
  put(kAnna, 2, 5);
  send({message(kAnna), message(kAnna)});
  now_ += core::Minutes{5} - Micros{1};
  EXPECT_EQ(send(message(kAnna)).retry_after, Micros{1});
  now_ += Micros{1};
  EXPECT_EQ(quota(kAnna).count, 2) << "nobody begins it before";
  EXPECT_EQ(send(message(kAnna)).result, SendResult::sent);
  EXPECT_EQ(quota(kAnna).count, 1);
  EXPECT_EQ(quota(kAnna).refreshed, now_);
}

TEST_P(QuotaSuite, counts_what_a_message_costs) {
  put(kAnna, 5);
  EXPECT_EQ(send(message(kAnna, "long", {}, 3)).result, SendResult::sent);
  EXPECT_EQ(send(message(kAnna, "long", {}, 3)).result, SendResult::limited);
  EXPECT_EQ(send(message(kAnna, "longer", {}, 6)).result, SendResult::never);
  EXPECT_EQ(send(message(kAnna, "short", {}, 2)).result, SendResult::sent);
  EXPECT_EQ(quota(kAnna).count, 5);
}

TEST_P(QuotaSuite, a_message_is_an_item_with_its_context) {
  put(kAnna, 5);
  const Send one = message(kAnna, "Grüße");
  ASSERT_EQ(send(one).result, SendResult::sent);
  const auto items = consume();
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0].id, one.id);
  EXPECT_EQ(items[0].context, one.context);
  EXPECT_EQ(items[0].scheduled, cut_to_millis(now_));
}

TEST_P(QuotaSuite, the_same_key_is_one_message_and_one_count) {
  put(kAnna, 2);
  const Send first = message(kAnna, "Hello", "k-1");
  EXPECT_EQ(send(first).result, SendResult::sent);
  for (int i = 0; i < 3; ++i) {
    const Sent again = send(message(kAnna, "Hello", "k-1"));
    EXPECT_EQ(again.result, SendResult::repeated);
    EXPECT_EQ(again.id, first.id);
    harness_->reopen();
  }
  EXPECT_EQ(quota(kAnna).count, 1);
  EXPECT_EQ(queued(), 1U);
  EXPECT_EQ(send(message(kAnna, "Another", "k-1")).result, SendResult::different);
  EXPECT_EQ(quota(kAnna).count, 1);
  EXPECT_EQ(usage(kAnna, now_, now_ + Seconds{1}).at(0).counts.sent, 1);
}

TEST_P(QuotaSuite, the_same_key_in_one_batch_is_one_message) {
  put(kAnna, 5);
  put(kBoris, 5);
  const std::vector<Send> sends = {message(kAnna, "a", "k"), message(kAnna, "a", "k"),
                                   message(kAnna, "b", "k"), message(kBoris, "b", "k")};
  const std::vector<Sent> sent = send(sends);
  EXPECT_EQ(sent[0].result, SendResult::sent);
  EXPECT_EQ(sent[1].result, SendResult::repeated);
  EXPECT_EQ(sent[1].id, sends[0].id);
  EXPECT_EQ(sent[2].result, SendResult::different);
  EXPECT_EQ(sent[3].result, SendResult::sent) << "a key is its user's own";
  EXPECT_EQ(quota(kAnna).count, 1);
}

TEST_P(QuotaSuite, a_key_is_only_remembered_for_what_was_taken) {
  put(kAnna, 1, 5);
  send(message(kAnna, "first"));
  EXPECT_EQ(send(message(kAnna, "a", "k")).result, SendResult::limited);
  now_ += core::Minutes{5};
  EXPECT_EQ(send(message(kAnna, "b", "k")).result, SendResult::sent);
}

TEST_P(QuotaSuite, a_repeated_message_is_answered_though_the_window_is_used_up) {
  put(kAnna, 1);
  const Send first = message(kAnna, "a", "k");
  send(first);
  EXPECT_EQ(send(message(kAnna, "b")).result, SendResult::limited);
  EXPECT_EQ(send(message(kAnna, "a", "k")).id, first.id);
}

TEST_P(QuotaSuite, a_key_is_forgotten_after_its_term) {
  put(kAnna, 5, 1);
  const Send first = message(kAnna, "a", "k");
  send(first);
  const Instant then = now_;
  now_ = then + core::kKeyTerm - Micros{1};
  EXPECT_EQ(send(message(kAnna, "a", "k")).result, SendResult::repeated);
  now_ = then + core::kKeyTerm;
  const Send second = message(kAnna, "b", "k");
  EXPECT_EQ(send(second).result, SendResult::sent);
  // The old one is swept away, and the new one stays.
  EXPECT_TRUE(quotas().forget(now_ - core::kKeyTerm + Micros{1}, then, kMany));
  EXPECT_EQ(send(message(kAnna, "b", "k")).id, second.id);
  now_ += core::kKeyTerm;
  EXPECT_TRUE(quotas().forget(now_ - core::kKeyTerm + Micros{1}, then, kMany));
  EXPECT_EQ(send(message(kAnna, "c", "k")).result, SendResult::sent);
}

TEST_P(QuotaSuite, counts_what_was_sent_by_the_minute) {
  put(kAnna, 100, 1'000);
  const Instant noon = now_ = minute_of(now_);
  send({message(kAnna), message(kAnna), message(kBoris)});
  now_ += Seconds{59};
  send(message(kAnna));
  now_ += Seconds{1};
  send({message(kAnna), message(kAnna, "long", {}, 3)});
  harness_->reopen();
  const std::vector<UsagePoint> expected = {
      {.minute = noon, .counts = {.sent = 3}},
      {.minute = noon + core::Minutes{1}, .counts = {.sent = 2}}};
  EXPECT_EQ(usage(kAnna, noon, noon + core::Minutes{2}), expected);
  EXPECT_EQ(usage(kAnna, noon, noon + core::Minutes{1}).size(), 1U);
  EXPECT_EQ(usage(kAnna, noon + core::Minutes{1}, noon + core::Minutes{9}).size(), 1U);
  EXPECT_EQ(usage(kAnna, noon + Seconds{30}, noon + core::Minutes{1}).size(), 1U)
      << "a minute that has begun belongs to it";
  EXPECT_TRUE(usage(kBoris, noon, noon + core::Minutes{2}).empty());
  EXPECT_EQ(quotas().usage(kAnna, noon, noon + core::Minutes{2}, 1)->size(), 1U);
}

TEST_P(QuotaSuite, adds_what_was_refused_to_what_was_sent) {
  put(kAnna, 100);
  const Instant noon = now_ = minute_of(now_);
  send(message(kAnna));
  const std::vector<UsageDelta> deltas = {
      {.user = kAnna, .minute = noon, .counts = {.limited = 2}},
      {.user = kBoris, .minute = noon, .counts = {.limited = 5, .failed = 1}},
      {.user = kAnna, .minute = noon, .counts = {.limited = 1, .failed = 4}}};
  ASSERT_TRUE(quotas().record(deltas));
  now_ += core::Minutes{1};
  send(message(kAnna));  // in another minute: the one before moves on
  ASSERT_TRUE(quotas().record(std::span(deltas).first(1)));
  EXPECT_EQ(usage(kAnna, noon, noon + core::Minutes{1}),
            (std::vector<UsagePoint>{
                {.minute = noon, .counts = {.sent = 1, .limited = 5, .failed = 4}}}));
  EXPECT_EQ(usage(kBoris, noon, noon + core::Minutes{1}),
            (std::vector<UsagePoint>{{.minute = noon, .counts = {.limited = 5, .failed = 1}}}));
}

TEST_P(QuotaSuite, tells_who_was_limited_most) {
  const Instant noon = now_ = minute_of(now_);
  const auto limited = [&](int user, int minute, int count) {
    return UsageDelta{
        .user = UserId{user}, .minute = noon + core::Minutes{minute}, .counts = {.limited = count}};
  };
  const std::vector<UsageDelta> deltas = {limited(1, 0, 2), limited(2, 0, 5), limited(1, 1, 4),
                                          limited(3, 1, 6), limited(4, 2, 99)};
  ASSERT_TRUE(quotas().record(deltas));
  const auto top = [&](int minutes, std::size_t count) {
    return *quotas().top_limited(noon, noon + core::Minutes{minutes}, count);
  };
  EXPECT_EQ(top(2, 10), (std::vector<LimitedUser>{{UserId{1}, 6}, {UserId{3}, 6}, {UserId{2}, 5}}));
  EXPECT_EQ(top(1, 10), (std::vector<LimitedUser>{{UserId{2}, 5}, {UserId{1}, 2}}));
  EXPECT_EQ(top(3, 1), (std::vector<LimitedUser>{{UserId{4}, 99}}));
}

TEST_P(QuotaSuite, forgets_usage_that_is_old_a_piece_at_a_time) {
  const Instant noon = now_ = minute_of(now_);
  std::vector<UsageDelta> deltas;
  for (int i = 0; i < 25; ++i) {
    deltas.push_back({.user = UserId{i % 3},
                      .minute = noon + core::Minutes{i},
                      .counts = {.limited = 1, .failed = 1}});
  }
  ASSERT_TRUE(quotas().record(deltas));
  std::size_t gone = 0;
  for (;;) {
    const auto sweep = quotas().forget(noon, noon + core::Minutes{20}, 7);
    ASSERT_TRUE(sweep);
    EXPECT_LE(sweep->gone, 7U);
    gone += sweep->gone;
    if (!sweep->more) break;
  }
  EXPECT_EQ(gone, 20U);
  std::size_t left = 0;
  for (int user = 0; user < 3; ++user) {
    left += usage(UserId{user}, noon, noon + core::Minutes{100}).size();
  }
  EXPECT_EQ(left, 5U);
  EXPECT_EQ(quotas().top_limited(noon, noon + core::Minutes{100}, 10)->size(), 3U);
}

TEST_P(QuotaSuite, nothing_to_do_is_done) {
  EXPECT_TRUE(quotas().send({}, now_).empty());
  EXPECT_TRUE(quotas().record({}));
  EXPECT_EQ(quotas().forget(now_, now_, 10)->gone, 0U);
}

}  // namespace penstock::store::conformance
