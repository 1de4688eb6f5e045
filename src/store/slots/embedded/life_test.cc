// What the life of slots leaves in the folder: terms, counters, and what pruning and a failed write
// make of them.
#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/test_instants.h"
#include "base/time.h"
#include "engine/rocksdb/records.h"
#include "engine/rocksdb/testing/faulty_file_system.h"
#include "engine/rocksdb/testing/temp_folder.h"
#include "store/embedded/store_parts.h"
#include "store/slots/embedded/encoding.h"

namespace penstock::store::embedded {
namespace {

EventId event(const std::string& name) { return EventId::trusted(name); }

class EmbeddedLifeTest : public testing::Test {
 protected:
  void SetUp() override {
    auto parts = StoreParts::open(
        {.dir = folder_.path() / "data", .cache_bytes = 1 << 20, .env = env_.get()}, clock_);
    ASSERT_TRUE(parts) << parts.error().what;
    parts_ = std::move(*parts);
    ASSERT_TRUE(parts_->configs.put({.name = ConfigName::trusted("c"),
                                     .pool = PoolName::trusted("c"),
                                     .max_per_window = 1,
                                     .window_size = Seconds{4}},
                                    std::nullopt));
  }

  SlotLife& life() { return parts_->life; }

  // In the first window with room at or after `after` from the start.
  Result<Assignment> ask(const std::string& name, Millis after, std::optional<Millis> ttl = {},
                         Millis max_delay = std::chrono::hours{1}) {
    const SlotRequest request{.event = event(name),
                              .config_name = ConfigName::trusted("c"),
                              .requested = kStart + after,
                              .max_delay = max_delay,
                              .ttl = ttl};
    return std::move(parts_->slots.assign({&request, 1}, std::nullopt).front());
  }
  void assign(const std::string& name, Millis after, std::optional<Millis> ttl = {}) {
    const Result<Assignment> answer = ask(name, after, ttl);
    ASSERT_TRUE(answer) << answer.error().what;
    EXPECT_TRUE(answer->fresh) << name;
    EXPECT_EQ(answer->slot.window_start, kStart + after) << name;
  }
  std::size_t expire() {
    const Result<std::size_t> expired = life().expire(1'000, std::nullopt);
    EXPECT_TRUE(expired) << expired.error().what;
    return expired.value_or(0);
  }
  PruneReport prune(const SlotRetention::Sink& sink = {}) {
    const auto report = parts_->retention.prune({.before = kInstantEnd}, sink, {});
    EXPECT_TRUE(report) << report.error().what;
    return report.value_or(PruneReport{});
  }

  // The events of a family of keys that end in one.
  std::vector<std::string> terms() {
    const auto view = parts_->engine->view();
    std::vector<std::string> events;
    for (Cursor at(*view, Family::slot_term, "", ""); at.valid(); at.next()) {
      events.push_back(decode_term_key(at.key())->event.str());
    }
    return events;
  }
  // Records of windows, those that count nothing too.
  std::size_t window_records() {
    const auto view = parts_->engine->view();
    std::size_t records = 0;
    for (Cursor at(*view, Family::slot_window, "", ""); at.valid(); at.next()) ++records;
    return records;
  }
  SlotStatus status(const std::string& name) {
    const std::vector<EventId> events = {event(name)};
    const auto found = parts_->slots.find(events);
    EXPECT_TRUE(found && found->front()) << name;
    return found && found->front() ? found->front()->status : SlotStatus::assigned;
  }

  TempFolder folder_;
  SimulatedClock clock_{kStart};
  std::shared_ptr<FaultyFileSystem> disk_ = std::make_shared<FaultyFileSystem>();
  std::unique_ptr<rocksdb::Env> env_ = rocksdb::NewCompositeEnv(disk_);
  std::unique_ptr<StoreParts> parts_;
};

using Names = std::vector<std::string>;

TEST_F(EmbeddedLifeTest, keeps_a_term_only_while_it_is_waited_for) {
  assign("plain", Seconds{60});
  EXPECT_EQ(terms(), Names{});
  assign("confirmed", Seconds{64}, Seconds{10});
  assign("released", Seconds{68}, Seconds{11});
  assign("expired", Seconds{72}, Seconds{12});
  assign("pruned", Seconds{0}, std::chrono::hours{2});
  assign("waiting", Seconds{7'600}, std::chrono::hours{1});
  EXPECT_EQ(terms(), (Names{"confirmed", "released", "expired", "waiting", "pruned"}));
  ASSERT_TRUE(life().confirm(event("confirmed"), std::nullopt));
  ASSERT_TRUE(life().release(event("released"), std::nullopt));
  EXPECT_EQ(terms(), (Names{"expired", "waiting", "pruned"}));
  clock_.advance(Seconds{13});
  EXPECT_EQ(expire(), 1U);
  EXPECT_EQ(terms(), (Names{"waiting", "pruned"}));
  EXPECT_EQ(prune().slots, 1U);
  EXPECT_EQ(terms(), Names{"waiting"});
  EXPECT_EQ(window_records(), 3U) << "plain, confirmed, waiting";
}

TEST_F(EmbeddedLifeTest, expires_a_term_that_was_given_behind_the_last_walk) {
  clock_.advance(Seconds{30});
  EXPECT_EQ(expire(), 0U);
  clock_.advance(-Seconds{20});
  assign("late", Seconds{60}, Seconds{5});
  clock_.advance(Seconds{20});
  EXPECT_EQ(expire(), 1U);
  EXPECT_EQ(status("late"), SlotStatus::expired);
}

TEST_F(EmbeddedLifeTest, takes_a_kept_place_along_once_its_window_has_ended) {
  assign("a", Seconds{4}, Seconds{5});
  clock_.advance(Seconds{6});
  EXPECT_EQ(expire(), 1U);
  EXPECT_EQ(ask("other", Seconds{4}, {}, Millis{0}).error().kind, ErrorKind::exhausted)
      << "its window had begun";
  clock_.advance(Seconds{2});
  assign("a", Seconds{60});
  EXPECT_EQ(window_records(), 1U);
}

TEST_F(EmbeddedLifeTest, leaves_a_kept_place_in_a_window_that_lasts) {
  assign("a", Seconds{4}, Seconds{5});
  clock_.advance(Seconds{6});
  EXPECT_EQ(expire(), 1U);
  assign("a", Seconds{60});
  EXPECT_EQ(ask("other", Seconds{4}, {}, Millis{0}).error().kind, ErrorKind::exhausted);
}

TEST_F(EmbeddedLifeTest, prunes_slots_whatever_became_of_them) {
  assign("held", Seconds{4});
  assign("released", Seconds{8});
  ASSERT_TRUE(life().release(event("released"), std::nullopt));
  assign("after", Seconds{8});  // counts in the window of one that is released
  assign("expired", Seconds{12}, Seconds{1});
  assign("late", Seconds{16}, Seconds{17});
  assign("waiting", Seconds{20}, std::chrono::hours{1});
  assign("ahead", Seconds{600});
  clock_.advance(Seconds{2});
  EXPECT_EQ(expire(), 1U);
  clock_.advance(Seconds{58});
  EXPECT_EQ(expire(), 1U);
  EXPECT_EQ(status("late"), SlotStatus::expired);
  const PruneReport report = prune();
  EXPECT_EQ(report.slots, 6U);
  EXPECT_EQ(report.windows, 4U) << "held, after, late, waiting";
  EXPECT_EQ(window_records(), 1U);
  EXPECT_EQ(terms(), Names{});
  EXPECT_EQ(parts_->slots.scan({}, SIZE_MAX)->size(), 1U);
}

TEST_F(EmbeddedLifeTest, prunes_no_slot_that_was_assigned_anew_meanwhile) {
  assign("a", Seconds{4}, Seconds{5});
  assign("b", Seconds{8});
  clock_.advance(Seconds{60});
  EXPECT_EQ(expire(), 1U);
  const PruneReport report = prune([&](std::span<const Slot> slots) -> Result<void> {
    EXPECT_EQ(slots.size(), 2U);
    assign("a", Seconds{600});
    return {};
  });
  EXPECT_EQ(report.slots, 1U);
  EXPECT_EQ(status("a"), SlotStatus::assigned);
  EXPECT_EQ(window_records(), 1U);
}

TEST_F(EmbeddedLifeTest, a_failed_write_gives_nothing_back) {
  assign("a", Seconds{60}, Seconds{5});
  assign("b", Seconds{64});
  ASSERT_TRUE(life().confirm(event("b"), std::nullopt));
  disk_->set(Fault::append_fails);
  EXPECT_EQ(life().release(event("a"), std::nullopt).error().kind, ErrorKind::unavailable);
  // To say so needs no write; a place given back would need one, which fails otherwise.
  EXPECT_EQ(ask("c", Seconds{60}, {}, Millis{0}).error().kind, ErrorKind::exhausted);
  EXPECT_EQ(status("a"), SlotStatus::assigned);
  EXPECT_TRUE(life().confirm(event("b"), std::nullopt)) << "nothing is to be written";
  EXPECT_FALSE(life().confirm(event("a"), std::nullopt));
  clock_.advance(Seconds{10});
  EXPECT_FALSE(life().expire(10, std::nullopt));
  disk_->set(Fault::none);
  clock_.advance(Seconds{2});
  ASSERT_TRUE(parts_->health.check());
  EXPECT_EQ(status("a"), SlotStatus::assigned);
  EXPECT_EQ(ask("c", Seconds{60}, {}, Millis{0}).error().kind, ErrorKind::exhausted);
  disk_->set(Fault::append_fails);
  EXPECT_FALSE(life().expire(10, std::nullopt));
  EXPECT_EQ(ask("c", Seconds{60}, {}, Millis{0}).error().kind, ErrorKind::exhausted);
  disk_->set(Fault::none);
  clock_.advance(Seconds{2});
  EXPECT_EQ(expire(), 1U) << "its term was not lost";
  assign("c", Seconds{60});
  EXPECT_EQ(window_records(), 2U);
}

}  // namespace
}  // namespace penstock::store::embedded
