// The correctness properties of the gateway's design, each over 120 random cases. The eighth (what
// the sender logs) stands at service/gateway/sms_log_sink_test.cc; the ninth to eleventh are about
// a cache, and this is a store without one.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <thread>

#include "store/quota/conformance/quota_harness.h"
#include "wire/gateway.h"
#include "wire/json.h"

namespace penstock::store::conformance {

class QuotaPropertySuite : public QuotaHarness {
 protected:
  static constexpr int kCases = 120;

  UserId any_user() { return UserId{static_cast<std::int32_t>(rng_.below(1U << 31))}; }
  std::int64_t any_limit() { return rng_.between(1, 8); }

  // A user with `used` of `limit` used up, in a window of some minutes.
  UserId user_with(std::int64_t limit, std::int64_t used) {
    const UserId user = any_user();
    put(user, limit, rng_.between(1, 600));
    std::vector<Send> sends;
    for (std::int64_t i = 0; i < used; ++i) sends.push_back(message(user));
    for (const Sent& sent : send(sends)) EXPECT_EQ(sent.result, SendResult::sent);
    return user;
  }

  Rng rng_{4'242};
};

TEST_P(QuotaPropertySuite, property_1_config_persistence_round_trip) {
  for (int i = 0; i < kCases; ++i) {
    const UserId user = any_user();
    for (int update = 0; update < 2; ++update) {
      const QuotaRule rule{.rate_limit = rng_.between(1, core::kRateLimitMax),
                           .window = core::Minutes{rng_.between(1, core::kTimeWindowMax.count())}};
      ASSERT_TRUE(quotas().put(user, rule, now_));
      ASSERT_EQ(quota(user), (Quota{.rule = rule, .count = 0, .refreshed = now_}));
      send(message(user));
      now_ += Millis{rng_.between(0, 100)};
    }
  }
}

TEST_P(QuotaPropertySuite, property_2_invalid_config_is_rejected) {
  const UserId user = user_with(5, 2);
  const Quota before = quota(user);
  for (int i = 0; i < kCases; ++i) {
    // One to three fields are out of range, missing, or no whole number.
    std::string body = "{\"x\":0";
    const std::uint64_t wrong = 1 + rng_.below(7);
    const char* names[] = {"userId", "rateLimit", "timeWindow"};
    for (std::size_t field = 0; field < 3; ++field) {
      const bool bad = (wrong >> field & 1) != 0;
      const std::uint64_t how = rng_.below(4);
      if (bad && how == 0) continue;
      body += std::string(",\"") + names[field] + "\":";
      if (!bad) {
        body += std::to_string(field == 0 ? user.raw : rng_.between(1, 100));
      } else if (how == 1) {
        body += "\"5\"";
      } else if (how == 2) {
        body += std::to_string(rng_.between(-1'000'000, -1));
      } else {
        body += std::to_string(rng_.between(core::kRateLimitMax + 1, 1LL << 40));
      }
    }
    body += "}";
    const auto document = wire::parse_json(body);
    ASSERT_TRUE(document) << body;
    const auto call = wire::decode_quota_call(document->root());
    ASSERT_FALSE(call) << body;
    ASSERT_EQ(call.error().kind, ErrorKind::invalid);
    ASSERT_FALSE(call.error().field.empty()) << body;
    ASSERT_EQ(quota(user), before);
  }
}

TEST_P(QuotaPropertySuite, property_3_lazy_refresh_resets_on_window_expiry) {
  for (int i = 0; i < kCases; ++i) {
    const std::int64_t limit = any_limit();
    const UserId user = user_with(limit, rng_.between(0, limit));
    now_ = quota(user).ends() + Micros{rng_.below(3) == 0 ? 0 : rng_.between(0, 1'000'000'000)};
    ASSERT_EQ(send(message(user)).result, SendResult::sent);
    ASSERT_EQ(quota(user).count, 1);
    ASSERT_EQ(quota(user).refreshed, now_);
  }
}

TEST_P(QuotaPropertySuite, property_4_limit_enforced_within_the_active_window) {
  for (int i = 0; i < kCases; ++i) {
    const std::int64_t limit = any_limit();
    const std::int64_t used = rng_.between(0, limit);
    const UserId user = user_with(limit, used);
    now_ += Micros{rng_.between(0, 59'999'999)};  // every window is a minute at least
    const Sent sent = send(message(user));
    ASSERT_EQ(sent.result, used < limit ? SendResult::sent : SendResult::limited);
    ASSERT_EQ(quota(user).count, std::min(used + 1, limit));
    ASSERT_EQ(sent.retry_after, used == limit ? quota(user).ends() - now_ : Micros::zero());
  }
}

// The append to the outbox fails when there is an item of that id already.
TEST_P(QuotaPropertySuite, property_5_no_count_without_a_published_message) {
  for (int i = 0; i < kCases; ++i) {
    const std::int64_t limit = any_limit();
    const UserId user = user_with(limit, rng_.between(0, limit - 1));
    const Quota before = quota(user);
    const Send taken = message(user, "first", "k");
    ASSERT_TRUE(queue().enqueue(std::vector<NewItem>{{.type = message_item_type(),
                                                      .id = taken.id,
                                                      .due = cut_to_millis(now_),
                                                      .slot = std::nullopt,
                                                      .context = "null"}},
                                now_)[0]);
    const std::uint64_t items = queued();
    std::vector<Send> sends(1 + rng_.below(3), taken);
    for (std::size_t j = 1; j < sends.size(); ++j) sends[j] = message(user, "m", std::to_string(j));
    for (const Result<Sent>& answer : quotas().send(sends, now_)) {
      ASSERT_TRUE(!answer || answer->result == SendResult::limited);
    }
    ASSERT_EQ(quota(user), before);
    ASSERT_EQ(queued(), items);
    ASSERT_EQ(send(message(user, "second", "k")).result, SendResult::sent) << "nor a key";
    ASSERT_EQ(quota(user).count, before.count + 1);
  }
}

TEST_P(QuotaPropertySuite, property_6_exactly_one_wins_the_last_slot) {
  for (int i = 0; i < kCases; ++i) {
    const std::int64_t limit = any_limit();
    const UserId user = user_with(limit, limit - 1);
    std::vector<Send> sends;
    for (std::uint64_t n = 2 + rng_.below(5); n-- > 0;) sends.push_back(message(user));
    std::vector<SendResult> results(sends.size(), SendResult::never);
    {
      std::vector<std::jthread> threads;
      for (std::size_t j = 0; j < sends.size(); ++j) {
        threads.emplace_back([&, j] {
          const auto answers = quotas().send(std::span(sends).subspan(j, 1), now_);
          if (answers[0]) results[j] = answers[0]->result;
        });
      }
    }
    ASSERT_EQ(std::ranges::count(results, SendResult::sent), 1);
    ASSERT_EQ(std::ranges::count(results, SendResult::limited),
              static_cast<std::ptrdiff_t>(sends.size()) - 1);
    ASSERT_EQ(quota(user).count, limit);
  }
}

TEST_P(QuotaPropertySuite, property_7_the_message_is_published_as_it_came) {
  std::map<std::string, std::string> expected;  // id -> line
  for (int i = 0; i < kCases; ++i) {
    const UserId user = any_user();
    put(user, 1);
    core::SendCall call{.user = user};
    const char* const letters[] = {"a", "Z", "€", "ж", "😀", "\"", "\\", "\n", " ", "{"};
    for (std::uint64_t n = 1 + rng_.below(60); n-- > 0;) call.message += letters[rng_.below(10)];
    Send one = message(user);
    one.context = wire::encode_message_context(call, one.id, now_);
    ASSERT_EQ(send(one).result, SendResult::sent);
    expected[one.id.str()] = std::to_string(user.raw) + ": " + call.message;
  }
  const auto items = consume();
  ASSERT_EQ(items.size(), expected.size());
  for (const ClaimedItem& item : items) {
    ASSERT_EQ(wire::message_line(item.context), expected[item.id.str()]);
  }
}

}  // namespace penstock::store::conformance
