#include "core/limits/share.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace penstock::core {
namespace {

TEST(Share, of_one_node_is_everything) {
  const Limit limit{.capacity = 7, .refill = {3, 1'000'000}};
  EXPECT_EQ(share_of(limit, 0), limit);
  EXPECT_EQ(share_of(limit, 1), limit);
}

TEST(Share, divides_capacity_and_rate) {
  const Limit share = share_of({.capacity = 10, .refill = {6, 1'000'000}}, 4);
  EXPECT_EQ(share.capacity, 2);
  EXPECT_EQ(share.refill, (Rate{3, 2'000'000}));
}

TEST(Share, leaves_the_window_alone) {
  const Limit share =
      share_of({.type = LimitType::fixed_window, .capacity = 9, .window = Seconds{30}}, 3);
  EXPECT_EQ(share.capacity, 3);
  EXPECT_EQ(share.window, Seconds{30});
}

TEST(Share, has_room_for_one_token) {
  EXPECT_EQ(share_of({.capacity = 2, .refill = {1, 1}}, 5).capacity, 1);
}

TEST(Share, of_all_nodes_is_never_more_than_the_limit) {
  Rng rng(3);
  for (int i = 0; i < 2'000; ++i) {
    const Limit limit{.capacity = rng.between(1'000, kCapacityMax),
                      .refill = {rng.between(1, 1'000'000'000), rng.between(1, 100'000'000'000)}};
    const std::int64_t nodes = rng.between(2, 1'000);
    const Limit share = share_of(limit, static_cast<std::size_t>(nodes));
    EXPECT_LE(share.capacity * nodes, limit.capacity);
    // tokens / micros * nodes <= limit's; in long double, exact enough for a part in 10^15.
    const long double all = static_cast<long double>(share.refill.tokens) * nodes /
                            static_cast<long double>(share.refill.micros);
    const long double limits = static_cast<long double>(limit.refill.tokens) /
                               static_cast<long double>(limit.refill.micros);
    EXPECT_LE(all, limits * (1 + 1e-15L));
    EXPECT_GE(all, limits * (1 - 1e-15L));
  }
}

}  // namespace
}  // namespace penstock::core
