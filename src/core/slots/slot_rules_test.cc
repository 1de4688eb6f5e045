// The rules of slots over thousands of seeded histories, against a model that knows nothing of the
// index: it walks the windows one by one over plain counters. A failure prints its seed; put it
// into `kOnlySeed` to run that history alone.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "core/slots/placement.h"
#include "core/slots/test_entropy.h"

namespace penstock::core {
namespace {

constexpr std::uint64_t kOnlySeed = 0;  // 0 = all

using Counters = std::map<WindowIndex, std::int64_t>;

std::int64_t count_in(const Counters& counters, WindowIndex window) {
  const auto at = counters.find(window);
  return at == counters.end() ? 0 : at->second;
}

struct Expected {
  WindowIndex window;
  std::int64_t earliest_ms;  // the place in time lies in [earliest_ms, end_ms)
  std::int64_t end_ms;
};

// The rules in their plainest form.
std::optional<Expected> model_place(const Counters& counters, std::int64_t requested_ms,
                                    std::int64_t size_ms, std::int64_t max, std::int64_t delay_ms) {
  std::int64_t start_ms = requested_ms;
  while (start_ms % size_ms != 0) start_ms -= start_ms % size_ms;  // down to a multiple of the size
  const std::int64_t first_ms = start_ms;
  for (; start_ms == first_ms || start_ms <= requested_ms + delay_ms; start_ms += size_ms) {
    const std::int64_t end_ms = start_ms + size_ms;
    const std::int64_t earliest_ms = start_ms == first_ms ? requested_ms : start_ms;
    // The largest whole number of places that is not above max * rest / size.
    std::int64_t capacity = max;
    while (capacity * size_ms > max * (end_ms - earliest_ms)) --capacity;
    if (count_in(counters, start_ms / size_ms) < capacity) {
      return Expected{start_ms / size_ms, earliest_ms, end_ms};
    }
  }
  return std::nullopt;
}

struct View {  // one config of the pool
  std::int64_t max = 0;
  FullRuns full;
};

// One pool of windows under random traffic: every step checks the answer against the model.
class History {
 public:
  History(std::uint64_t seed, std::int64_t size_ms, std::size_t configs)
      : rng_(seed), size_ms_(size_ms) {
    // Somewhere in the allowed years, at any phase of a window.
    origin_ms_ = rng_.between(0, to_epoch_millis(kInstantEnd) - 1 - span_ms());
    for (std::size_t i = 0; i < configs; ++i) {
      // Small bounds make the index forget all the time; the answers must not change.
      const std::size_t runs_max = rng_.below(2) == 0 ? 1 + rng_.below(4) : FullRuns::kRunsMax;
      views_.push_back({.max = rng_.between(1, 12), .full = FullRuns(runs_max)});
    }
  }

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      const std::uint64_t choice = rng_.below(100);
      if (choice < 88) {
        ask();
      } else if (choice < 95) {
        give_back();
      } else {
        change_max(views_[rng_.below(views_.size())]);
      }
      ASSERT_FALSE(testing::Test::HasFatalFailure()) << "at step " << step;
    }
    check_index();
  }

 private:
  static constexpr std::int64_t kWindows = 24;  // few, so that they fill up

  std::int64_t span_ms() const { return kWindows * size_ms_; }

  std::int64_t pick_delay_ms() {
    switch (rng_.below(4)) {
      case 0:
        return 0;
      case 1:
        return rng_.between(0, 3 * size_ms_);
      case 2:
        return rng_.between(0, 5) * size_ms_;
      default:
        return 3 * span_ms();
    }
  }

  std::uint64_t pick_entropy() {
    const std::uint64_t choice = rng_.below(8);
    return choice == 0 ? 0 : choice == 1 ? kHighest : rng_();
  }

  void ask() {
    View& view = views_[rng_.below(views_.size())];
    // Mostly the first half of the span, so that its windows fill; sometimes a window's very start.
    std::int64_t requested_ms =
        origin_ms_ + rng_.between(0, rng_.below(4) == 0 ? span_ms() : span_ms() / 2);
    if (rng_.below(4) == 0) requested_ms -= requested_ms % size_ms_;
    const PlacementQuery query{.requested = from_epoch_millis(requested_ms),
                               .max_delay = Millis{pick_delay_ms()},
                               .max_per_window = view.max,
                               .window_size = Millis{size_ms_},
                               .entropy = pick_entropy()};
    const auto used = [this](WindowIndex window) { return count_in(counters_, window); };
    const std::optional<Placement> got = place(query, view.full, used);
    const std::optional<Expected> want =
        model_place(counters_, requested_ms, size_ms_, view.max, query.max_delay.count());

    ASSERT_EQ(got.has_value(), want.has_value()) << "requested " << requested_ms;
    if (!got) return;
    ASSERT_EQ(got->window, want->window) << "requested " << requested_ms;
    ASSERT_EQ(got->window_start, from_epoch_millis(want->window * size_ms_));
    ASSERT_EQ(got->depth, want->window - requested_ms / size_ms_);
    const std::int64_t scheduled_ms = to_epoch_millis(got->scheduled);
    ASSERT_GE(scheduled_ms, want->earliest_ms);
    ASSERT_LT(scheduled_ms, want->end_ms);
    ASSERT_GE(got->scheduled, query.requested);
    if (query.entropy == 0) {
      ASSERT_EQ(scheduled_ms, want->earliest_ms);
    }
    if (query.entropy == kHighest) {
      ASSERT_EQ(scheduled_ms, want->end_ms - 1);
    }
    // Whatever an older, larger maximum left there, this one adds nothing above itself.
    ASSERT_LE(++counters_[got->window], view.max);
    placed_.push_back(got->window);
  }

  // A released or expired slot: the counter falls, and every config's index opens the window.
  void give_back() {
    if (placed_.empty()) return;
    const std::size_t at = rng_.below(placed_.size());
    const WindowIndex window = placed_[at];
    placed_[at] = placed_.back();
    placed_.pop_back();
    --counters_[window];
    for (View& view : views_) view.full.erase(window);
  }

  // A new version of a config. The counters know nothing of versions; only a raise touches the
  // index.
  void change_max(View& view) {
    const std::int64_t old_max = view.max;
    view.max = rng_.between(1, 12);
    if (view.max > old_max) view.full.clear();
  }

  // The index errs on one side only, and no window holds more than the largest maximum there was.
  void check_index() {
    for (WindowIndex window = origin_ms_ / size_ms_; window <= origin_ms_ / size_ms_ + 4 * kWindows;
         ++window) {
      ASSERT_LE(count_in(counters_, window), 12);
      for (const View& view : views_) {
        if (view.full.contains(window)) {
          ASSERT_GE(count_in(counters_, window), view.max) << "window " << window;
        }
      }
    }
  }

  Rng rng_;
  std::int64_t size_ms_;
  std::int64_t origin_ms_ = 0;
  std::vector<View> views_;
  Counters counters_;
  std::vector<WindowIndex> placed_;
};

void run_histories(std::uint64_t count, std::size_t configs,
                   const std::function<std::int64_t(Rng&)>& pick_size_ms) {
  for (std::uint64_t seed = 1; seed <= count && !testing::Test::HasFatalFailure(); ++seed) {
    if (kOnlySeed != 0 && seed != kOnlySeed) continue;
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng shape(~seed);
    History(seed, pick_size_ms(shape), configs).run(120);
  }
}

TEST(SlotRules, hold_for_any_window_size) {
  run_histories(700, 1, [](Rng& rng) {
    // All magnitudes alike, from a millisecond to a day.
    const std::int64_t top = std::int64_t{1} << rng.below(27);
    return std::min<std::int64_t>(rng.between(1, top), 86'400'000);
  });
}

TEST(SlotRules, hold_for_usual_window_sizes) {
  run_histories(300, 1, [](Rng& rng) {
    constexpr std::int64_t kSizes[] = {1'000, 4'000, 60'000, 3'600'000, 86'400'000};
    return kSizes[rng.below(std::size(kSizes))];
  });
}

TEST(SlotRules, hold_for_windows_of_one_millisecond) {
  run_histories(300, 1, [](Rng&) { return std::int64_t{1}; });
}

TEST(SlotRules, hold_for_windows_that_do_not_divide_a_day) {
  run_histories(300, 1, [](Rng& rng) {
    constexpr std::int64_t kSizes[] = {7, 997, 7'000, 11'003, 5'000'011, 86'399'999};
    return kSizes[rng.below(std::size(kSizes))];
  });
}

TEST(SlotRules, hold_for_configs_that_share_a_pool) {
  run_histories(500, 2, [](Rng& rng) { return rng.between(1, 5'000); });
  run_histories(200, 3, [](Rng& rng) { return rng.between(1, 5'000); });
}

// Fills windows 0, 1, 2, … under one maximum, as a store would.
class Filler {
 public:
  explicit Filler(std::int64_t max) : max_(max) {}

  WindowIndex assign() {
    const PlacementQuery query{
        .max_delay = std::chrono::hours{1}, .max_per_window = max_, .window_size = Millis{1'000}};
    const auto placement =
        place(query, full_, [this](WindowIndex window) { return count_in(counters_, window); });
    if (!placement) return -1;
    ++counters_[placement->window];
    return placement->window;
  }

  void set_max(std::int64_t max) {
    if (max > max_) full_.clear();
    max_ = max;
  }

  std::int64_t count(WindowIndex window) const { return count_in(counters_, window); }

 private:
  std::int64_t max_;
  FullRuns full_;
  Counters counters_;
};

TEST(SlotRules, a_raised_maximum_opens_existing_windows_at_once) {
  Filler filler(2);
  for (int i = 0; i < 10; ++i) filler.assign();
  EXPECT_EQ(filler.assign(), 5);
  filler.set_max(3);
  EXPECT_EQ(filler.assign(), 0);
  EXPECT_EQ(filler.assign(), 1);
}

TEST(SlotRules, a_lowered_maximum_closes_windows_and_moves_nothing) {
  Filler filler(3);
  for (int i = 0; i < 8; ++i) filler.assign();  // 3, 3, 2
  filler.set_max(2);
  EXPECT_EQ(filler.assign(), 3);
  EXPECT_EQ(filler.count(0), 3);
  EXPECT_EQ(filler.count(1), 3);
  EXPECT_EQ(filler.count(2), 2);
  filler.set_max(3);
  EXPECT_EQ(filler.assign(), 2);
}

TEST(SlotRules, a_window_fills_to_its_maximum_before_the_next_is_used) {
  Filler filler(7);
  for (WindowIndex window = 0; window < 50; ++window) {
    for (int i = 0; i < 7; ++i) ASSERT_EQ(filler.assign(), window);
  }
}

}  // namespace
}  // namespace penstock::core
