// Pruning beside assignment, and what the writer remembers afterwards.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "engine/rocksdb/testing/temp_folder.h"
#include "store/embedded/store.h"

namespace penstock::store::embedded {
namespace {

constexpr Instant kLongAgo = from_epoch_millis(1'000'000'000'000);
constexpr Instant kNow = from_epoch_millis(1'750'000'000'000);

SlotRequest ask(const std::string& event, Instant at) {
  return {.event = EventId::trusted(event),
          .config_name = ConfigName::trusted("default"),
          .requested = at,
          .max_delay = std::chrono::days{1}};
}

TEST(EmbeddedRetention, disturbs_no_assignment_and_keeps_counters_equal_to_rows) {
  const TempFolder folder;
  SimulatedClock clock(kNow);
  auto store = EmbeddedStore::open({.dir = folder.path(), .relaxed_durability = true}, clock);
  ASSERT_TRUE(store) << store.error().what;
  const Backend backend = (*store)->backend();
  ASSERT_TRUE(backend.slots.configs->put({.name = ConfigName::trusted("default"),
                                          .pool = PoolName::trusted("default"),
                                          .max_per_window = 5,
                                          .window_size = Seconds{4}},
                                         std::nullopt));
  std::vector<SlotRequest> old;
  for (int i = 0; i < 3'000; ++i) old.push_back(ask("old" + std::to_string(i), kLongAgo));
  for (const auto& answer : backend.slots.store->assign(old, std::nullopt)) ASSERT_TRUE(answer);

  std::atomic<bool> stop = false;
  std::atomic<std::size_t> assigned = 0;
  std::thread client([&] {
    for (int i = 0; !stop; ++i) {
      // Into the very windows that are being pruned, too.
      const SlotRequest requests[] = {ask("new" + std::to_string(i), kNow + Seconds{i % 60}),
                                      ask("late" + std::to_string(i), kLongAgo)};
      for (const auto& answer : backend.slots.store->assign(requests, std::nullopt)) {
        EXPECT_TRUE(answer) << answer.error().what;
        ++assigned;
      }
    }
  });
  std::size_t taken = 0;
  const auto report =
      backend.slots.retention->prune({.before = kNow, .step_slots = 50},
                                     [&](std::span<const Slot> slots) -> Result<void> {
                                       taken += slots.size();
                                       return {};
                                     },
                                     {});
  stop = true;
  client.join();
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->slots, taken);
  EXPECT_GE(taken, old.size());

  const auto left = backend.slots.store->scan({}, SIZE_MAX);
  ASSERT_TRUE(left);
  EXPECT_EQ(left->size(), old.size() + assigned - taken);
  std::int64_t counted = 0;
  const auto windows = backend.slots.store->windows({.pool = PoolName::trusted("default"),
                                                     .window_size = Seconds{4},
                                                     .from = kInstantMin,
                                                     .to = kInstantEnd,
                                                     .limit = SIZE_MAX});
  for (const WindowUse& window : *windows) {
    EXPECT_LE(window.used, 5);
    counted += window.used;
  }
  EXPECT_EQ(counted, static_cast<std::int64_t>(left->size()));
}

}  // namespace
}  // namespace penstock::store::embedded
