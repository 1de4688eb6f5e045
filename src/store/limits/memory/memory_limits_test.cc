// What is special about the memory backend: bounds, forgetting, saving. The rest is conformance.
#include "store/limits/memory/memory_limits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/test_instants.h"
#include "core/limits/limit.h"

namespace penstock::store::memory {
namespace {

using core::Limit;
using core::LimitStatus;
using core::LimitType;

constexpr Limit kBucket{.capacity = 100, .refill = {1, 100'000}, .window = Seconds{60}};
constexpr Limit kOne{.capacity = 1, .refill = {1, 3'600'000'000}, .window = Seconds{60}};

class MemoryLimitsTest : public testing::Test {
 protected:
  void make(const MemoryOptions& options) {
    limits_ = std::make_unique<MemoryLimits>(options, clock_);
  }
  LimitStatus ask(std::string_view key, const Limit& limit = kBucket, std::int64_t cost = 1) {
    return ask(*limits_, key, limit, cost);
  }
  static LimitStatus ask(MemoryLimits& limits, std::string_view key, const Limit& limit,
                         std::int64_t cost) {
    const std::array<LimitCheck, 1> checks = {LimitCheck{.key = key, .limit = limit}};
    std::array<LimitStatus, 1> statuses;
    const std::array<LimitRequest, 1> requests = {
        LimitRequest{.checks = checks, .cost = cost, .statuses = statuses}};
    std::array<Result<LimitAnswer>, 1> answers = {fail(ErrorKind::corrupt, "no answer")};
    limits.apply(requests, std::nullopt, answers);
    EXPECT_TRUE(answers[0]);
    return statuses[0];
  }
  static std::string key(int i) {
    std::string text = "user:" + std::to_string(i);
    text.resize(32, '.');
    return text;
  }
  // What a saver would have on its disk.
  void save(std::map<std::string, std::string>& disk, std::size_t chunk = 1'000,
            Collect what = Collect::all) {
    std::size_t cursor = 0;
    bool more = true;
    while (more) {
      std::vector<SavedLimit> changes;
      more = limits_->collect_changes(cursor, chunk, changes, what);
      for (SavedLimit& change : changes) {
        if (change.state.empty()) {
          disk.erase(change.key);
        } else {
          disk[change.key] = std::move(change.state);
        }
      }
    }
  }
  void restart(const std::map<std::string, std::string>& disk) {
    make({.track_changes = true});
    for (const auto& [saved_key, state] : disk) {
      EXPECT_TRUE(limits_->restore(saved_key, state)) << saved_key;
    }
  }

  SimulatedClock clock_{kStart};
  std::unique_ptr<MemoryLimits> limits_;
};

TEST_F(MemoryLimitsTest, holds_a_hundred_thousand_keys_in_120_bytes_each) {
  make({.max_keys = 200'000});
  for (int i = 0; i < 100'000; ++i) ask(key(i));
  const MemoryUse use = limits_->memory_use();
  EXPECT_EQ(use.keys, 100'000U);
  EXPECT_LE(use.bytes, 120U * use.keys);
}

TEST_F(MemoryLimitsTest, drops_keys_that_say_nothing_any_more) {
  make({});
  for (int i = 0; i < 5'000; ++i) ask(key(i));
  EXPECT_EQ(limits_->sweep(100'000), 0U) << "the last window still counts them";
  clock_.advance(Seconds{120});
  std::size_t dropped = 0;
  for (int i = 0; i < 60; ++i) dropped += limits_->sweep(100);
  EXPECT_EQ(dropped, 5'000U);
  EXPECT_EQ(limits_->memory_use().keys, 0U);
  EXPECT_EQ(ask(key(1)).remaining, 99);
}

TEST_F(MemoryLimitsTest, drops_idle_keys_as_new_ones_come) {
  make({});
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 20'000; ++i) ask(key(round * 20'000 + i));
    clock_.advance(Seconds{120});
  }
  EXPECT_LE(limits_->memory_use().keys, 25'000U);
}

TEST_F(MemoryLimitsTest, dropping_mints_nothing_when_time_goes_back) {
  make({.max_keys = 10});  // one stripe
  ASSERT_TRUE(ask("key", kOne).admitted);
  clock_.advance(Seconds{3'600});
  ASSERT_EQ(limits_->sweep(100), 1U);
  ASSERT_TRUE(ask("key", kOne).admitted);
  clock_.advance(Seconds{-3'600});
  EXPECT_FALSE(ask("key", kOne).admitted);
}

TEST_F(MemoryLimitsTest, a_flood_of_keys_stays_within_the_bound_and_frees_nobody_who_is_denied) {
  constexpr std::size_t kMax = 20'000;
  make({.max_keys = kMax});
  for (int i = 0; i < 2'000; ++i) ASSERT_TRUE(ask("live" + std::to_string(i), kOne).admitted);
  for (int i = 0; i < 100'000; ++i) {
    ask(key(i));
    if (i % 50 == 0) clock_.advance(Micros{100});
  }
  const MemoryUse use = limits_->memory_use();
  EXPECT_LE(use.keys, kMax + 64);
  EXPECT_LE(use.bytes, 150 * kMax);
  EXPECT_GT(use.evicted, 70'000U);
  int freed = 0;
  for (int i = 0; i < 2'000; ++i) freed += ask("live" + std::to_string(i), kOne).admitted ? 1 : 0;
  EXPECT_EQ(freed, 0);
}

TEST_F(MemoryLimitsTest, many_threads_fill_it_to_the_bound_and_not_beyond) {
  constexpr int kThreads = 8;
  constexpr std::size_t kMax = 4'000;
  for (int round = 0; round < 20; ++round) {
    make({.max_keys = kMax});
    {
      std::vector<std::jthread> threads;
      for (int thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&, thread] {
          for (int i = 0; i < 1'000; ++i) ask(*limits_, key(thread * 1'000 + i), kOne, 1);
        });
      }
    }
    ASSERT_EQ(limits_->memory_use().keys, kMax);
  }
}

TEST_F(MemoryLimitsTest, evicts_what_is_used_least_first) {
  make({.max_keys = 16});  // one stripe, all of it in the sample
  for (int i = 0; i < 16; ++i) ask(key(i), kBucket, 10 + i);
  for (int i = 100; i < 108; ++i) ask(key(i), kBucket, 90);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(ask(key(i), kBucket, 0).remaining, i < 8 ? 100 : 90 - i) << i;
  }
}

TEST_F(MemoryLimitsTest, exact_logs_stay_within_their_bound_and_never_over_admit) {
  // One stripe, which may take two full logs, and sixteen that would be full.
  make({.max_keys = 16, .log_bytes_max = 0});
  const Limit limit{.type = LimitType::sliding_window, .capacity = 3'000, .window = Seconds{60}};
  std::size_t most = 0;
  for (int round = 0; round < 3'000; ++round) {
    for (int i = 0; i < 16; ++i) ASSERT_TRUE(ask(key(i), limit).admitted);
    clock_.advance(Micros{1'000});
    most = std::max(most, limits_->memory_use().log_bytes);
  }
  EXPECT_GT(most, 64U << 10) << "the bound was never near: this shows nothing";
  EXPECT_LE(most, (128U + 64U) << 10) << "the bound, and the last log that grew under it";
  for (int i = 0; i < 16; ++i) EXPECT_FALSE(ask(key(i), limit).admitted);
}

TEST_F(MemoryLimitsTest, a_restart_keeps_the_usage_aged_by_the_time_that_passed) {
  make({.track_changes = true});
  for (int i = 0; i < 5'000; ++i) ask(key(i), kBucket, 1 + i % 100);
  std::map<std::string, std::string> disk;
  save(disk);
  EXPECT_EQ(disk.size(), 5'000U);
  clock_.advance(Seconds{2});  // twenty tokens
  restart(disk);
  for (int i = 0; i < 5'000; ++i) {
    EXPECT_EQ(ask(key(i), kBucket, 0).remaining, std::min(100, 119 - i % 100));
  }
}

TEST_F(MemoryLimitsTest, every_type_survives_a_restart) {
  make({.track_changes = true});
  const auto limit = [](int type) {
    return Limit{.type = static_cast<LimitType>(type),
                 .capacity = 9,
                 .refill = {1, 1'000'000},
                 .window = Seconds{60}};
  };
  for (int type = 0; type < 5; ++type) ask(key(type), limit(type), 4);
  std::map<std::string, std::string> disk;
  save(disk);
  restart(disk);
  for (int type = 0; type < 5; ++type) {
    EXPECT_EQ(ask(key(type), limit(type), 0).remaining, 5);
    const auto use = limits_->find(key(type), {});
    ASSERT_TRUE(use && *use);
    EXPECT_EQ((*use)->limit.capacity, 9);
    EXPECT_EQ((*use)->window_count, 4);
  }
}

TEST_F(MemoryLimitsTest, gives_the_saver_only_what_changed) {
  make({.track_changes = true});
  for (int i = 0; i < 1'000; ++i) ask(key(i));
  std::map<std::string, std::string> disk;
  save(disk, 10);
  std::map<std::string, std::string> changes;
  save(changes);
  EXPECT_TRUE(changes.empty());
  ask(key(7), kBucket, 0);
  ask(key(8), kBucket, 200);  // denied
  ask(key(9), kBucket, -1);
  ask(key(10));
  save(changes);
  EXPECT_EQ(changes.size(), 2U);
  EXPECT_TRUE(changes.contains(key(9)) && changes.contains(key(10)));
}

TEST_F(MemoryLimitsTest, a_restart_does_not_bring_back_what_was_reset) {
  make({.track_changes = true});
  std::map<std::string, std::string> disk;
  for (int i = 0; i < 3; ++i) ask(key(i), kOne);
  save(disk);
  ASSERT_EQ(limits_->reset(key(0)), true);
  ASSERT_EQ(limits_->reset(key(1)), true);
  ask(key(1), kOne);  // and used again
  save(disk);
  EXPECT_EQ(disk.size(), 2U);
  restart(disk);
  EXPECT_TRUE(ask(key(0), kOne).admitted);
  EXPECT_FALSE(ask(key(1), kOne).admitted);
  EXPECT_FALSE(ask(key(2), kOne).admitted);
}

TEST_F(MemoryLimitsTest, tells_the_saver_of_dropped_keys) {
  make({.track_changes = true});
  for (int i = 0; i < 1'000; ++i) ask(key(i));
  std::map<std::string, std::string> disk;
  save(disk);
  clock_.advance(Seconds{120});
  EXPECT_EQ(limits_->sweep(10'000), 1'000U);
  save(disk);
  EXPECT_TRUE(disk.empty());
}

TEST_F(MemoryLimitsTest, a_flood_of_keys_does_not_pile_up_at_the_saver) {
  constexpr int kMax = 50'000;
  make({.max_keys = kMax, .track_changes = true});
  std::map<std::string, std::string> disk;
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < kMax; ++i) ask(key(round * kMax + i));
    save(disk);
    ASSERT_EQ(disk.size(), limits_->memory_use().keys);
  }
}

TEST_F(MemoryLimitsTest, what_could_not_be_saved_is_collected_again) {
  make({.track_changes = true});
  ask("used");
  ask("reset");
  std::map<std::string, std::string> disk;
  save(disk);
  ask("used");
  ASSERT_EQ(limits_->reset("reset"), true);
  std::size_t cursor = 0;
  std::vector<SavedLimit> lost;
  EXPECT_FALSE(limits_->collect_changes(cursor, 1'000, lost));
  EXPECT_EQ(lost.size(), 2U);
  limits_->put_back(lost);
  save(disk);
  EXPECT_EQ(disk.size(), 1U);
  restart(disk);
  EXPECT_EQ(ask("used", kBucket, 0).remaining, 98);
}

TEST_F(MemoryLimitsTest, what_has_drained_is_saved_with_all_and_forgotten_before) {
  make({.track_changes = true});
  std::map<std::string, std::string> disk;
  ask("drains");
  ask("stays", kBucket, 50);
  save(disk, 1'000, Collect::in_use);
  ASSERT_EQ(disk.size(), 2U);
  clock_.advance(Seconds{1});
  ask("stays");
  ask("drains", kBucket, 2);
  ask("drains", kBucket, -2);
  save(disk, 1'000, Collect::in_use);
  EXPECT_EQ(disk.size(), 1U);
  EXPECT_TRUE(disk.contains("stays"));
  save(disk);
  EXPECT_EQ(disk.size(), 2U);
  restart(disk);
  EXPECT_EQ(limits_->find("drains", {}).value()->window_count, 1);
  EXPECT_EQ(ask("stays", kBucket, 0).remaining, 59);
}

TEST_F(MemoryLimitsTest, a_saved_state_from_the_future_neither_freezes_nor_frees) {
  make({.track_changes = true});
  clock_.advance(Seconds{3'600});
  ask("key", kBucket, 100);
  std::map<std::string, std::string> disk;
  save(disk);
  clock_.advance(Seconds{-3'600});  // the machine was ahead and has been set right
  restart(disk);
  EXPECT_FALSE(ask("key").admitted);
  clock_.advance(Seconds{1});
  EXPECT_EQ(ask("key", kBucket, 0).remaining, 10);
}

TEST_F(MemoryLimitsTest, refuses_garbage_and_skips_what_is_idle_or_there) {
  make({.track_changes = true});
  ask("key");
  std::map<std::string, std::string> disk;
  save(disk);
  const std::string state = disk["key"];
  EXPECT_EQ(limits_->restore("key", state), false) << "in use";
  EXPECT_EQ(limits_->restore("other", state), true);
  for (const std::string& bad :
       {std::string(), state.substr(1), state + "x", std::string(40, '\xff')}) {
    const Result<bool> restored = limits_->restore("bad", bad);
    ASSERT_FALSE(restored);
    EXPECT_EQ(restored.error().kind, ErrorKind::corrupt);
  }
  EXPECT_FALSE(limits_->restore(std::string(513, 'k'), state));
  clock_.advance(Seconds{120});
  EXPECT_EQ(limits_->restore("late", state), false) << "idle by now";
}

TEST_F(MemoryLimitsTest, a_placed_key_stays_itself_while_others_take_its_place) {
  make({.max_keys = 64});
  std::vector<std::unique_ptr<PlacedKey>> placed;
  for (int i = 0; i < 8; ++i) {
    placed.push_back(std::unique_ptr<PlacedKey>(new PlacedKey(limits_->placed(key(i)))));
  }
  for (int step = 0; step < 20'000; ++step) {
    // Keys of the same size that use more push it out and take over its place.
    ask(key(1'000 + step), kBucket, 50);
    const int i = step % 8;
    const std::int64_t before = ask(key(i), kBucket, 0).remaining;
    const std::int64_t after = limits_->decide_key(
        *placed[static_cast<std::size_t>(i)], [] { return &kBucket; }, 1,
        [&] { return clock_.now(); },
        [](const core::FastCharge& charge) { return charge.remaining(); },
        [](const LimitStatus& status) { return status.remaining; },
        [] { return std::int64_t{-1}; });
    ASSERT_EQ(after, before > 0 ? before - 1 : 0) << step;
    ASSERT_EQ(ask(key(i), kBucket, 0).remaining, after) << step;
    clock_.advance(Micros{10'000});
  }
}

TEST_F(MemoryLimitsTest, saving_sweeping_and_flooding_at_once_lose_no_token) {
  make({.max_keys = 3'000, .track_changes = true});
  const Limit shared{.capacity = 20'000, .refill = {1, 3'600'000'000}, .window = Seconds{60}};
  constexpr int kThreads = 3;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < 5'000; ++i) {
          ask(*limits_, "shared", shared, 1);
          ask(*limits_, key(thread * 5'000 + i), kBucket, 1);
        }
      });
    }
    threads.emplace_back([&] {
      for (int i = 0; i < 30; ++i) {
        std::map<std::string, std::string> disk;
        save(disk);
        limits_->sweep(1'000);
        EXPECT_TRUE(limits_->list("", 10, {}));
      }
    });
  }
  EXPECT_EQ(ask("shared", shared, 0).remaining, 20'000 - kThreads * 5'000);
}

}  // namespace
}  // namespace penstock::store::memory
