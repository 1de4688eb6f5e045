// Several threads at once: what must hold in whatever order they come.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "core/slots/placement.h"
#include "store/slots/conformance/harness.h"

namespace penstock::store::conformance {

class ConcurrencySuite : public SlotSuite {
 protected:
  static constexpr int kThreads = 4;

  // Batches of events that other threads ask for too; every answer is noted.
  void assign_from_threads(int batches, const std::vector<std::string>& names) {
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        Rng rng(static_cast<std::uint64_t>(thread) + 1);
        for (int batch = 0; batch < batches; ++batch) {
          std::vector<SlotRequest> requests;
          for (int i = 0; i < 16; ++i) {
            requests.push_back(request({.event = "e" + std::to_string(rng.below(1'500)),
                                        .config = names[rng.below(names.size())],
                                        .at = kNoon + Millis{rng.between(0, 20'000)},
                                        .entropy = rng()}));
          }
          note(requests, slots().assign(requests, kNoon));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  void note(const std::vector<SlotRequest>& requests,
            const std::vector<Result<Assignment>>& answers) {
    const std::lock_guard lock(mutex_);
    ASSERT_EQ(answers.size(), requests.size());
    for (std::size_t i = 0; i < answers.size(); ++i) {
      ASSERT_TRUE(answers[i]) << answers[i].error().what;
      EXPECT_EQ(answers[i]->slot.event, requests[i].event);
      fresh_ += answers[i]->fresh ? 1 : 0;
      const auto [known, added] = answers_.emplace(requests[i].event, answers[i]->slot);
      EXPECT_EQ(known->second, answers[i]->slot) << "two slots for one event";
    }
  }

  // The rows are what was answered, and the counters count the rows.
  void expect_counters_equal_rows(const std::string& pool, Millis size, std::int64_t max) {
    std::map<Instant, std::int64_t> rows;
    const std::vector<Slot> all = all_slots();
    for (const Slot& slot : all) {
      ++rows[slot.window_start];
      EXPECT_EQ(slot.window_start, core::window_start(core::window_of(slot.scheduled, size), size));
      EXPECT_GE(slot.scheduled, slot.requested);
      EXPECT_EQ(answers_.at(slot.event), slot);
    }
    EXPECT_EQ(all.size(), answers_.size());
    EXPECT_EQ(all.size(), static_cast<std::size_t>(fresh_));
    std::map<Instant, std::int64_t> counters;
    for (const WindowUse& use : windows(pool, size)) {
      counters[use.start] = use.used;
      EXPECT_LE(use.used, max) << "over capacity";
    }
    EXPECT_EQ(counters, rows);
  }

 private:
  std::mutex mutex_;
  std::map<EventId, Slot> answers_;  // guarded by mutex_
  std::int64_t fresh_ = 0;           // guarded by mutex_
};

TEST_P(ConcurrencySuite, threads_never_overfill_a_window_nor_give_an_event_two_slots) {
  given({.name = "card", .pool = "bank", .max = 7, .size = Seconds{1}});
  given({.name = "wire", .pool = "bank", .max = 7, .size = Seconds{1}});
  assign_from_threads(40, {"card", "wire"});
  expect_counters_equal_rows("bank", Seconds{1}, 7);
  harness().reopen();
  expect_counters_equal_rows("bank", Seconds{1}, 7);
}

TEST_P(ConcurrencySuite, readers_and_config_changes_do_not_disturb_assignments) {
  given({.max = 5, .size = Seconds{1}});
  std::atomic<bool> stop = false;
  std::thread reader([&] {
    while (!stop) {
      std::int64_t rows = 0;
      for (const Slot& slot : all_slots(100)) rows += slot.event.empty() ? 0 : 1;
      EXPECT_LE(rows, 1'500);
      for (const WindowUse& use : windows("default", Seconds{1})) EXPECT_LE(use.used, 9);
      const std::vector<EventId> events = {event("e1"), event("e2")};
      EXPECT_TRUE(slots().find(events));
    }
  });
  std::thread changer([&] {
    for (int i = 0; !stop; ++i) {
      EXPECT_TRUE(configs().put(draft({.max = 5 + i % 5, .size = Seconds{1}}), kNoon));
      EXPECT_TRUE(configs().find(config_name("default")));
      EXPECT_TRUE(configs().list(ConfigName{}, 10));
    }
  });
  assign_from_threads(20, {"default"});
  stop = true;
  reader.join();
  changer.join();
  expect_counters_equal_rows("default", Seconds{1}, 9);
}

}  // namespace penstock::store::conformance
