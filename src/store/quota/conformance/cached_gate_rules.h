// The rules of QuotaGate, one at a time.
#pragma once

#include "store/quota/conformance/cached_gate_harness.h"

namespace penstock::store::conformance {

class CachedGateSuite : public CachedGateHarness {};

TEST_P(CachedGateSuite, charges_up_to_the_limit_in_order) {
  put(kCarla, 3);
  const std::vector<Charged> charged = charge(std::vector<Charge>(5, {.user = kCarla}));
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(charged[i].result, i < 3 ? ChargeResult::charged : ChargeResult::limited) << i;
  }
  EXPECT_EQ(charged[0].window, charged[2].window);
  EXPECT_EQ(charged[4].retry_after, core::Minutes{5});
  EXPECT_EQ(quota(kCarla).count, 3);
}

TEST_P(CachedGateSuite, one_users_limit_is_not_anothers) {
  put(kCarla, 1);
  put(kDavid, 2);
  const std::vector<Charged> charged = charge({{.user = kDavid},
                                               {.user = kCarla},
                                               {.user = kCarla},
                                               {.user = kDavid},
                                               {.user = UserId{7}}});
  EXPECT_EQ(charged[0].result, ChargeResult::charged);
  EXPECT_EQ(charged[1].result, ChargeResult::charged);
  EXPECT_EQ(charged[2].result, ChargeResult::limited);
  EXPECT_EQ(charged[3].result, ChargeResult::charged);
  EXPECT_EQ(charged[4].result, ChargeResult::unknown_user);
}

TEST_P(CachedGateSuite, charges_what_it_costs) {
  put(kCarla, 5);
  const std::vector<Charged> charged = charge({{.user = kCarla, .cost = 3},
                                               {.user = kCarla, .cost = 3},
                                               {.user = kCarla, .cost = 6},
                                               {.user = kCarla, .cost = 2}});
  EXPECT_EQ(charged[0].result, ChargeResult::charged);
  EXPECT_EQ(charged[1].result, ChargeResult::limited);
  EXPECT_EQ(charged[2].result, ChargeResult::never);
  EXPECT_EQ(charged[3].result, ChargeResult::charged);
  EXPECT_EQ(quota(kCarla).count, 5);
}

TEST_P(CachedGateSuite, charges_a_large_limit_to_its_end) {
  put(kCarla, 1'000);
  std::int64_t charged = 0;
  for (int batch = 0; batch < 30; ++batch) {
    for (const Charged& one : charge(std::vector<Charge>(50, {.user = kCarla}))) {
      charged += one.result == ChargeResult::charged ? 1 : 0;
    }
  }
  EXPECT_EQ(charged, 1'000);
  EXPECT_EQ(quota(kCarla).count, 1'000);
}

TEST_P(CachedGateSuite, a_window_that_is_over_begins_anew_with_the_next_charge) {
  put(kCarla, 2, 5);
  const std::int64_t first = charge(kCarla).window;
  charge(kCarla);
  now_ += core::Minutes{5} - Micros{1};
  EXPECT_EQ(charge(kCarla).result, ChargeResult::limited);
  EXPECT_EQ(charge(kCarla).retry_after, Micros{1});
  now_ += Micros{1};
  EXPECT_EQ(quota(kCarla).count, 2) << "nobody begins it before";
  const Charged charged = charge(kCarla);
  EXPECT_EQ(charged.result, ChargeResult::charged);
  EXPECT_NE(charged.window, first);
  EXPECT_EQ(quota(kCarla).count, 1);
  EXPECT_EQ(quota(kCarla).refreshed, now_);
}

TEST_P(CachedGateSuite, what_can_never_be_charged_begins_no_window) {
  put(kCarla, 2, 5);
  const Quota before = quota(kCarla);
  now_ += core::Minutes{5};
  EXPECT_EQ(charge(kCarla, 3).result, ChargeResult::never);
  EXPECT_EQ(quota(kCarla), before);
}

TEST_P(CachedGateSuite, what_is_given_back_can_be_charged_again) {
  put(kCarla, 3);
  const std::vector<Charged> charged = charge(std::vector<Charge>(3, {.user = kCarla}));
  EXPECT_EQ(charge(kCarla).result, ChargeResult::limited);
  give_back({{.user = kCarla, .cost = 1, .window = charged[0].window},
             {.user = kCarla, .cost = 1, .window = charged[1].window}});
  EXPECT_EQ(quota(kCarla).count, 1);
  EXPECT_EQ(charge(kCarla, 2).result, ChargeResult::charged);
  EXPECT_EQ(charge(kCarla).result, ChargeResult::limited);
}

TEST_P(CachedGateSuite, what_belongs_to_another_window_is_not_given_back) {
  put(kCarla, 2, 5);
  const std::int64_t old = charge(kCarla).window;
  now_ += core::Minutes{5};
  charge(kCarla);
  give_back({{.user = kCarla, .cost = 1, .window = old}});
  EXPECT_EQ(quota(kCarla).count, 1);
  now_ += Seconds{1};
  put(kCarla, 2, 5);
  charge(kCarla);
  give_back({{.user = kCarla, .cost = 1, .window = old}});
  EXPECT_EQ(quota(kCarla).count, 1);
}

TEST_P(CachedGateSuite, a_changed_config_begins_anew) {
  put(kCarla, 1);
  charge(kCarla);
  EXPECT_EQ(charge(kCarla).result, ChargeResult::limited);
  now_ += Seconds{10};
  put(kCarla, 2, 7);
  EXPECT_EQ(charge(kCarla).result, ChargeResult::charged);
  EXPECT_EQ(charge(kCarla).result, ChargeResult::charged);
  const Charged limited = charge(kCarla);
  EXPECT_EQ(limited.result, ChargeResult::limited);
  EXPECT_EQ(limited.retry_after, core::Minutes{7});
}

TEST_P(CachedGateSuite, a_config_that_is_removed_is_gone_with_its_count) {
  put(kCarla, 5);
  charge(kCarla);
  EXPECT_EQ(quotas().remove(kCarla), true);
  EXPECT_EQ(charge(kCarla).result, ChargeResult::unknown_user);
  now_ += Seconds{1};
  put(kCarla, 1);
  EXPECT_EQ(charge(kCarla).result, ChargeResult::charged);
  EXPECT_EQ(charge(kCarla).result, ChargeResult::limited);
}

TEST_P(CachedGateSuite, charges_under_the_largest_config_there_can_be) {
  const UserId last{core::kUserIdMax};
  put(last, core::kRateLimitMax, core::kTimeWindowMax.count());
  EXPECT_EQ(charge(last, core::kRateLimitMax).result, ChargeResult::charged);
  EXPECT_EQ(charge(last).retry_after, core::kTimeWindowMax);
}

TEST_P(CachedGateSuite, nothing_to_do_is_done) {
  EXPECT_TRUE(charge(std::vector<Charge>{}).empty());
  give_back({});
}

}  // namespace penstock::store::conformance
