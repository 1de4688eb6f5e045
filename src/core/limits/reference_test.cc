// Every kind of limit against its reference, over seeded random histories: time that jumps and goes
// back, costs that are huge, zero and negative, limits that change on the way.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <ostream>
#include <string>

#include "base/rng.h"
#include "core/limits/decide.h"
#include "core/limits/testing/reference.h"

namespace penstock::core {
namespace {

constexpr Instant kUnevenStart = from_epoch_millis(1'750'000'000'123);
constexpr int kHistories = 400;
constexpr int kStepsOfHistory = 300;

class World {
 public:
  World(LimitType type, std::uint64_t seed) : rng_(seed) {
    limit_.type = type;
    limit_.capacity = capacity();
    limit_.refill = rate();
    limit_.window = Seconds{rng_.between(1, 5)};
    reference_ = reference::make(limit_);
  }

  void step() {
    pass_time();
    if (rng_.below(12) == 0) limit_.capacity = capacity();
    if (rng_.below(30) == 0) change();
    const std::int64_t amount = cost();
    const bool expected = reference_->admits(limit_.capacity, amount, now_);
    const LimitStatus foreseen = evaluate(limit_, state_, amount, now_);
    const LimitStatus status = charge(limit_, state_, amount, now_);
    ASSERT_EQ(status.admitted, expected) << "cost " << amount;
    ASSERT_EQ(foreseen.admitted, status.admitted);
    ASSERT_EQ(foreseen.remaining, status.remaining);
    ASSERT_EQ(foreseen.retry_after, status.retry_after);
    ASSERT_EQ(foreseen.reset_after, status.reset_after);
    if (!status.admitted) expect_promise(status.retry_after, amount);
    if (status.admitted && amount != 0) reference_->charge(amount, now_);
    expect_equal_use(status);
  }

 private:
  std::int64_t capacity() {
    return std::array<std::int64_t, 5>{1, 2, 10, 100, 1'000'000}[rng_.below(5)];
  }
  Rate rate() {
    // From one in ten seconds to a thousand a second, with awkward fractions.
    constexpr std::array<Rate, 6> kRates = {Rate{1, 10'000'000}, Rate{1, 1'000'000},
                                            Rate{7, 3},          Rate{1, 1'000},
                                            Rate{7, 60'000},     Rate{3, 1'000'003}};
    return kRates[rng_.below(kRates.size())];
  }
  std::int64_t cost() {
    switch (rng_.below(12)) {
      case 0:
        return 0;
      case 1:
        return -rng_.between(1, 5);
      case 2:
        return limit_.capacity;
      case 3:
        return limit_.capacity + 1;
      case 4:
        return rng_.below(4) == 0 ? (rng_.below(2) == 0 ? INT64_MAX : INT64_MIN) : 1;
      case 5:
        return rng_.between(1, limit_.capacity);
      default:
        return rng_.between(1, 3);
    }
  }
  void pass_time() {
    switch (rng_.below(12)) {
      case 0:
        now_ -= Micros{rng_.between(0, 3'000'000)};
        break;
      case 1:
        now_ += Micros{rng_.between(0, 20'000'000)};
        break;
      case 2:
        now_ = Instant{std::chrono::ceil<Seconds>(now_.time_since_epoch())};  // an edge
        break;
      case 3:
        now_ += Micros{1};
        break;
      case 4:
      case 5:
        break;
      default:
        now_ += Micros{rng_.between(0, 400'000)};
    }
  }
  // A charge adopts the change also when it is denied, so the reference changes here and now.
  void change() {
    if (is_bucket(limit_.type)) {
      const Rate before = limit_.refill;
      limit_.refill = rate();
      if (limit_.refill == before) return;
    } else {
      const Seconds before = limit_.window;
      limit_.window = Seconds{rng_.between(1, 5)};
      if (limit_.window == before) return;
    }
    adopt(limit_, state_, now_);
    reference_->change(limit_, now_);
  }

  void expect_promise(Micros wait, std::int64_t cost) {
    if (cost > limit_.capacity) {
      ASSERT_EQ(wait, kNever);
      return;
    }
    ASSERT_GT(wait, Micros::zero());
    const auto admits_after = [&](Micros after) {
      const bool expected = reference_->admits(limit_.capacity, cost, now_ + after);
      EXPECT_EQ(evaluate(limit_, state_, cost, now_ + after).admitted, expected);
      return expected;
    };
    ASSERT_TRUE(admits_after(wait));
    ASSERT_FALSE(admits_after(wait - Micros{1}));
    for (int i = 0; i < 3; ++i)
      ASSERT_FALSE(admits_after(Micros{rng_.between(0, wait.count() - 1)}));
  }

  void expect_equal_use(const LimitStatus& status) {
    ASSERT_EQ(status.limit, limit_.capacity);
    ASSERT_EQ(used(state_, now_), reference_->used_up(now_));
    ASSERT_EQ(status.remaining, reference_->remaining(limit_.capacity, now_));
    ASSERT_EQ(status.reset_after == Micros::zero(), reference_->used_up(now_) == 0);
    ASSERT_EQ(reference_->used_up(now_ + status.reset_after), 0);
    if (status.reset_after > Micros::zero()) {
      ASSERT_GT(reference_->used_up(now_ + status.reset_after - Micros{1}), 0);
    }
  }

  Rng rng_;
  Instant now_ = kUnevenStart;
  Limit limit_;
  LimitState state_;
  std::unique_ptr<reference::Reference> reference_;
};

class LimitReference : public testing::TestWithParam<LimitType> {};

TEST_P(LimitReference, agrees_over_random_histories) {
  for (std::uint64_t seed = 0; seed < kHistories; ++seed) {
    World world(GetParam(), seed);
    for (int step = 0; step < kStepsOfHistory; ++step) {
      world.step();
      ASSERT_FALSE(HasFatalFailure() || HasNonfatalFailure())
          << "seed " << seed << " step " << step;
    }
  }
}

std::string type_name(const testing::TestParamInfo<LimitType>& info) {
  constexpr std::array<const char*, 5> kNames = {"token_bucket", "gcra", "sliding_window",
                                                 "sliding_window_counter", "fixed_window"};
  return kNames[static_cast<std::size_t>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Limits, LimitReference, testing::ValuesIn(kAllTypes), type_name);

// The ends of what make_limit lets through, where products need most of 128 bits.
TEST(LimitReferenceExtremes, agrees_at_the_ends_of_the_ranges) {
  constexpr std::array<Rate, 3> kRates = {Rate{1, 1'000'000'000'000'000}, Rate{1'000, 1},
                                          Rate{999'999'999'999'999'999, 1'000'000'000'000'000}};
  for (const LimitType type : {LimitType::token_bucket, LimitType::gcra}) {
    for (const Rate rate : kRates) {
      const Limit limit{.type = type, .capacity = kCapacityMax, .refill = rate};
      const auto model = reference::make(limit);
      LimitState state;
      Rng rng(1);
      Instant now = kUnevenStart;
      for (int i = 0; i < 2'000; ++i) {
        now += Micros{rng.between(0, 1'000'000'000)};
        const std::int64_t cost = rng.between(kCapacityMax / 10, kCapacityMax);
        const LimitStatus status = charge(limit, state, cost, now);
        ASSERT_EQ(status.admitted, model->admits(kCapacityMax, cost, now)) << i;
        if (status.admitted) model->charge(cost, now);
        ASSERT_EQ(status.remaining, model->remaining(kCapacityMax, now));
        ASSERT_EQ(used(state, now), model->used_up(now));
        if (!status.admitted && status.retry_after < kWaitMax) {
          ASSERT_TRUE(model->admits(kCapacityMax, cost, now + status.retry_after));
          ASSERT_FALSE(model->admits(kCapacityMax, cost, now + status.retry_after - Micros{1}));
        }
      }
    }
  }
}

}  // namespace
}  // namespace penstock::core
