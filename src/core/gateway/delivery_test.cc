#include "core/gateway/delivery.h"

#include <gtest/gtest.h>

#include <vector>

namespace penstock::core {
namespace {

using enum DeliveryState;

constexpr Instant kSent{Seconds{1'750'000'000}};

DeliveryPart part(int number, int parts, DeliveryState state, int at = 0) {
  return {.part = number,
          .parts = parts,
          .state = state,
          .at = state == pending ? std::nullopt : std::optional(kSent + Seconds{at}),
          .detail = std::string(delivery_state_name(state))};
}

Delivery sum(const std::vector<DeliveryPart>& parts) { return *sum_up_delivery(parts); }

TEST(Delivery, nothing_is_known_of_what_was_never_taken) { EXPECT_FALSE(sum_up_delivery({})); }

TEST(Delivery, is_that_of_the_only_part) {
  EXPECT_EQ(sum({part(1, 1, pending)}),
            (Delivery{.state = pending, .at = {}, .detail = "PENDING"}));
  EXPECT_EQ(sum({part(1, 1, delivered, 3)}), (Delivery{.state = delivered,
                                                       .at = kSent + Seconds{3},
                                                       .detail = "DELIVERED",
                                                       .parts = 1,
                                                       .delivered = 1}));
}

TEST(Delivery, is_there_only_with_every_part) {
  EXPECT_EQ(sum({part(1, 2, delivered), part(2, 2, pending)}).state, pending);
  EXPECT_EQ(sum({part(1, 2, delivered), part(2, 2, enroute)}).state, enroute);
  EXPECT_EQ(sum({part(1, 2, delivered)}).state, enroute) << "the other part is not known at all";
  const Delivery all = sum({part(1, 2, delivered, 1), part(2, 2, delivered, 9)});
  EXPECT_EQ(all.state, delivered);
  EXPECT_EQ(all.at, kSent + Seconds{9});
  EXPECT_EQ(all.delivered, 2);
}

TEST(Delivery, has_failed_when_one_part_has) {
  const Delivery failed =
      sum({part(1, 3, delivered), part(2, 3, rejected, 5), part(3, 3, pending)});
  EXPECT_EQ(failed.state, rejected);
  EXPECT_EQ(failed.detail, "REJECTED");
  EXPECT_EQ(failed.delivered, 1);
}

TEST(Delivery, a_part_that_was_sent_twice_is_there_when_one_of_them_is) {
  EXPECT_EQ(sum({part(1, 1, expired, 9), part(1, 1, delivered, 2)}).state, delivered);
  EXPECT_EQ(sum({part(1, 1, delivered, 2), part(1, 1, expired, 9)}).state, delivered);
  EXPECT_EQ(sum({part(1, 1, expired, 9), part(1, 1, pending)}).state, pending);
}

TEST(Delivery, a_step_on_the_way_does_not_undo_the_end) {
  EXPECT_TRUE(replaces(enroute, pending));
  EXPECT_TRUE(replaces(delivered, enroute));
  EXPECT_TRUE(replaces(expired, delivered));
  EXPECT_FALSE(replaces(enroute, delivered));
  EXPECT_FALSE(replaces(unknown, rejected));
}

}  // namespace
}  // namespace penstock::core
