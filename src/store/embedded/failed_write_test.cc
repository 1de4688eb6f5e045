// What a failed write leaves behind: nothing, and a store that works again when the disk does.
#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/test_instants.h"
#include "base/time.h"
#include "engine/rocksdb/testing/faulty_file_system.h"
#include "engine/rocksdb/testing/temp_folder.h"
#include "store/embedded/store_parts.h"

namespace penstock::store::embedded {
namespace {

constexpr Millis kWindowSize = Seconds{1};

class FailedWrite : public testing::Test {
 protected:
  void SetUp() override { open(); }

  void open(bool relaxed = false) {
    auto parts = StoreParts::open({.dir = folder_.path() / "data",
                                   .relaxed_durability = relaxed,
                                   .cache_bytes = 1 << 20,
                                   .env = env_.get()},
                                  clock_);
    ASSERT_TRUE(parts) << parts.error().what;
    parts_ = std::move(*parts);
  }
  void close() { parts_.reset(); }
  void cut_power_and_restart() {
    disk_->set(Fault::dead);
    close();
    disk_->lose_power();
    disk_->set(Fault::none);
    open();
  }

  SlotStore& slots() { return parts_->slots; }
  SlotConfigStore& configs() { return parts_->configs; }
  StoreHealth& health() { return parts_->health; }

  void put_config(std::int64_t max) {
    const auto change = configs().put(draft(max), std::nullopt);
    ASSERT_TRUE(change) << change.error().what;
  }
  static core::SlotConfigDraft draft(std::int64_t max) {
    return {.name = ConfigName::trusted("c"),
            .pool = PoolName::trusted("c"),
            .max_per_window = max,
            .window_size = kWindowSize};
  }

  static SlotRequest request(std::string event, Millis max_delay = std::chrono::hours{1}) {
    return {.event = EventId::trusted(std::move(event)),
            .config_name = ConfigName::trusted("c"),
            .requested = kStart,
            .max_delay = max_delay};
  }
  std::vector<Result<Assignment>> assign(const std::vector<std::string>& events,
                                         Millis max_delay = std::chrono::hours{1}) {
    std::vector<SlotRequest> requests;
    for (const std::string& event : events) requests.push_back(request(event, max_delay));
    return slots().assign(requests, std::nullopt);
  }

  std::vector<Slot> rows() {
    auto all = slots().scan(EventId{}, SIZE_MAX);
    EXPECT_TRUE(all) << all.error().what;
    return all ? *all : std::vector<Slot>{};
  }
  void expect_counters_equal_rows(std::int64_t max) {
    std::map<Instant, std::int64_t> counted;
    for (const Slot& slot : rows()) ++counted[slot.window_start];
    std::map<Instant, std::int64_t> counters;
    const auto uses = slots().windows({.pool = PoolName::trusted("c"),
                                       .window_size = kWindowSize,
                                       .from = kInstantMin,
                                       .to = kInstantEnd,
                                       .limit = SIZE_MAX});
    ASSERT_TRUE(uses) << uses.error().what;
    for (const WindowUse& use : *uses) {
      counters[use.start] = use.used;
      EXPECT_LE(use.used, max);
    }
    EXPECT_EQ(counters, counted);
  }

  TempFolder folder_;
  SimulatedClock clock_{kStart};
  std::shared_ptr<FaultyFileSystem> disk_ = std::make_shared<FaultyFileSystem>();
  std::unique_ptr<rocksdb::Env> env_ = rocksdb::NewCompositeEnv(disk_);
  std::unique_ptr<StoreParts> parts_;
};

TEST_F(FailedWrite, fails_every_request_and_charges_nothing) {
  put_config(2);
  ASSERT_TRUE(assign({"known"})[0]);
  disk_->set(Fault::append_fails);
  for (const auto& answer : assign({"a", "known", "b"})) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, ErrorKind::unavailable);
    EXPECT_NE(answer.error().what.find("cannot write"), std::string::npos) << answer.error().what;
  }
  disk_->set(Fault::none);
  clock_.advance(Seconds{2});
  const auto answers = assign({"x", "y"}, Millis{0});
  ASSERT_TRUE(answers[0]) << answers[0].error().what;
  EXPECT_TRUE(answers[0]->fresh);
  ASSERT_FALSE(answers[1]);  // two places: "known" and "x"
  EXPECT_EQ(answers[1].error().kind, ErrorKind::exhausted);
  EXPECT_EQ(rows().size(), 2U);
  expect_counters_equal_rows(2);
}

TEST_F(FailedWrite, leaves_no_charge_in_memory_while_the_disk_is_bad) {
  put_config(1);
  disk_->set(Fault::append_fails);
  ASSERT_FALSE(assign({"a"})[0]);
  // Had the failed charge been kept, the window would look full, which needs no write to say.
  const auto answer = assign({"b"}, Millis{0});
  ASSERT_FALSE(answer[0]);
  EXPECT_EQ(answer[0].error().kind, ErrorKind::unavailable);
}

TEST_F(FailedWrite, still_answers_what_needs_no_write) {
  put_config(5);
  const auto first = assign({"known"});
  ASSERT_TRUE(first[0]);
  disk_->set(Fault::append_fails);
  ASSERT_FALSE(assign({"new"})[0]);
  const auto again = assign({"known"});
  ASSERT_TRUE(again[0]) << again[0].error().what;
  EXPECT_EQ(again[0]->slot, first[0]->slot);
  const std::vector<EventId> events = {EventId::trusted("known")};
  const auto found = slots().find(events);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->front(), first[0]->slot);
  EXPECT_TRUE(configs().find(ConfigName::trusted("c")));
}

TEST_F(FailedWrite, health_tells_until_it_is_mended) {
  put_config(5);
  EXPECT_TRUE(health().check());
  disk_->set(Fault::append_fails);
  ASSERT_FALSE(assign({"a"})[0]);
  clock_.advance(Seconds{2});
  const Result<void> bad = health().check();
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().kind, ErrorKind::unavailable);
  disk_->set(Fault::none);
  // At most one try a second: a broken disk is left in peace.
  EXPECT_FALSE(health().check());
  clock_.advance(Millis{999});
  EXPECT_FALSE(health().check());
  clock_.advance(Millis{1});
  const Result<void> good = health().check();
  EXPECT_TRUE(good) << good.error().what;
  EXPECT_TRUE(assign({"a"})[0]);
}

TEST_F(FailedWrite, a_clock_set_back_does_not_hold_mending_up) {
  put_config(5);
  disk_->set(Fault::append_fails);
  ASSERT_FALSE(assign({"a"})[0]);
  EXPECT_FALSE(health().check());
  disk_->set(Fault::none);
  clock_.advance(-std::chrono::hours{5});
  EXPECT_TRUE(health().check());
}

TEST_F(FailedWrite, a_failed_sync_leaves_the_batch_in_whole_or_not_at_all) {
  put_config(2);
  disk_->set(Fault::sync_fails);
  for (const auto& answer : assign({"a", "b", "c"})) EXPECT_FALSE(answer);
  disk_->set(Fault::none);
  clock_.advance(Seconds{2});
  ASSERT_TRUE(health().check());
  const std::size_t kept = rows().size();
  EXPECT_TRUE(kept == 0 || kept == 3) << kept;
  expect_counters_equal_rows(2);
  for (const auto& answer : assign({"c", "b", "a", "d"})) EXPECT_TRUE(answer);
  EXPECT_EQ(rows().size(), 4U);
  expect_counters_equal_rows(2);
}

TEST_F(FailedWrite, a_torn_append_is_dropped_and_loses_nothing_before_it) {
  put_config(3);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(assign({"e" + std::to_string(i)})[0]);
  disk_->set(Fault::append_tears);
  std::vector<std::string> many;
  for (int i = 0; i < 300; ++i) many.push_back("torn" + std::to_string(i));
  for (const auto& answer : assign(many)) EXPECT_FALSE(answer);
  disk_->set(Fault::none);
  clock_.advance(Seconds{2});
  ASSERT_TRUE(health().check());
  EXPECT_EQ(rows().size(), 50U);
  expect_counters_equal_rows(3);
  EXPECT_TRUE(assign({"after"})[0]);
}

TEST_F(FailedWrite, a_config_that_was_not_written_is_not_there) {
  put_config(2);
  disk_->set(Fault::append_fails);
  const auto refused = configs().put(draft(9), std::nullopt);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::unavailable);
  const auto found = configs().find(ConfigName::trusted("c"));
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->max_per_window, 2);
  disk_->set(Fault::none);
  clock_.advance(Seconds{2});
  const auto change = configs().put(draft(4), std::nullopt);
  ASSERT_TRUE(change) << change.error().what;
  EXPECT_EQ(change->current.version, 2);
}

TEST_F(FailedWrite, one_sync_makes_a_batch_durable) {
  put_config(1'000);
  const int before = disk_->log_syncs();
  std::vector<std::string> events;
  for (int i = 0; i < 256; ++i) events.push_back("e" + std::to_string(i));
  assign(events);
  EXPECT_EQ(disk_->log_syncs(), before + 1);
  assign(events);  // nothing new
  EXPECT_EQ(disk_->log_syncs(), before + 1);
}

TEST_F(FailedWrite, relaxed_durability_syncs_when_the_store_is_closed) {
  put_config(1'000);
  close();
  open(/*relaxed=*/true);
  const int before = disk_->log_syncs();
  ASSERT_TRUE(assign({"a"})[0]);
  EXPECT_EQ(disk_->log_syncs(), before);
  close();
  EXPECT_EQ(disk_->log_syncs(), before + 1);
}

TEST_F(FailedWrite, damage_is_not_mended_by_opening_again) {
  put_config(1'000);
  parts_->engine->set_failure({.kind = ErrorKind::corrupt, .what = "bytes are lost"});
  clock_.advance(Seconds{2});
  for (const auto& answer : assign({"a"})) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, ErrorKind::corrupt);
  }
  const Result<void> state = health().check();
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().kind, ErrorKind::corrupt);
}

TEST_F(FailedWrite, what_was_acknowledged_survives_a_power_cut) {
  put_config(3);
  std::map<EventId, Slot> acknowledged;
  for (int round = 0; round < 5; ++round) {
    for (int batch = 0; batch < 5; ++batch) {
      std::vector<std::string> events;
      for (int i = 0; i < 7; ++i) {
        events.push_back("e" + std::to_string(round) + "." + std::to_string(batch * 7 + i));
      }
      for (const auto& answer : assign(events)) {
        ASSERT_TRUE(answer) << answer.error().what;
        acknowledged.emplace(answer->slot.event, answer->slot);
      }
    }
    cut_power_and_restart();
    ASSERT_NE(parts_, nullptr);
    std::map<EventId, Slot> kept;
    for (const Slot& slot : rows()) kept.emplace(slot.event, slot);
    EXPECT_EQ(kept, acknowledged);
    expect_counters_equal_rows(3);
    const auto config = configs().find(ConfigName::trusted("c"));
    ASSERT_TRUE(config && *config);
  }
}

TEST_F(FailedWrite, random_faults_never_lose_or_overfill) {
  Rng rng(20'250'601);
  put_config(3);
  std::map<EventId, Slot> acknowledged;
  for (int step = 0; step < 120; ++step) {
    const Fault fault = rng.below(4) == 0 ? static_cast<Fault>(rng.between(1, 3)) : Fault::none;
    disk_->set(fault);
    std::vector<std::string> events;
    for (std::uint64_t n = rng.below(30) + 1; n > 0; --n) {
      events.push_back("e" + std::to_string(rng.below(2'000)));
    }
    for (const auto& answer : assign(events)) {
      if (!answer) continue;
      const auto [known, added] = acknowledged.emplace(answer->slot.event, answer->slot);
      ASSERT_EQ(known->second, answer->slot);
    }
    clock_.advance(Millis{400});
    if (rng.below(30) == 0) {
      cut_power_and_restart();
      ASSERT_NE(parts_, nullptr);
    }
  }
  disk_->set(Fault::none);
  clock_.advance(Seconds{2});
  ASSERT_TRUE(health().check());
  std::map<EventId, Slot> kept;
  for (const Slot& slot : rows()) kept.emplace(slot.event, slot);
  for (const auto& [event, slot] : acknowledged) EXPECT_EQ(kept.at(event), slot);
  expect_counters_equal_rows(3);
  EXPECT_GT(acknowledged.size(), 100U);
}

}  // namespace
}  // namespace penstock::store::embedded
