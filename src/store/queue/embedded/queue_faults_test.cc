// What a failed write and a power cut leave of the queue: every step in whole or not at all, in
// memory as on the disk.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/time.h"
#include "engine/rocksdb/records.h"
#include "store/embedded/testing/faults.h"
#include "store/queue/embedded/queue_encoding.h"

namespace penstock::store::embedded {
namespace {

const ItemType kType = ItemType::trusted("T");

class QueueFaults : public FaultsTest {
 protected:
  QueueStore& queue() { return parts_->queue; }

  static NewItem item(const std::string& id, bool slot = false) {
    NewItem item{.type = kType,
                 .id = ItemId::trusted(id),
                 .due = kStart,
                 .slot = std::nullopt,
                 .context = "{}",
                 .digest = {}};
    if (slot) {
      item.slot = SlotRequest{.event = EventId::trusted("T:" + id),
                              .config_name = ConfigName::trusted("c"),
                              .requested = kStart,
                              .max_delay = std::chrono::hours{1}};
    }
    return item;
  }
  std::vector<Result<Enqueued>> enqueue(const std::vector<std::string>& ids, bool slots = false) {
    std::vector<NewItem> items;
    for (const std::string& id : ids) items.push_back(item(id, slots));
    return queue().enqueue(items, std::nullopt);
  }
  Result<Claim> claim(FencingToken token, std::size_t limit) {
    return queue().claim(
        {.type = kType, .token = token, .limit = limit, .stale = std::chrono::hours{1}},
        std::nullopt);
  }
  Result<std::vector<bool>> settle(FencingToken token, const std::vector<std::string>& ids,
                                   Outcome outcome = Outcome::done) {
    std::vector<Settlement> items;
    for (const std::string& id : ids) {
      items.push_back({.id = ItemId::trusted(id),
                       .batch_id = "b",
                       .outcome = outcome,
                       .detail = {},
                       .not_before = kStart});
    }
    return queue().settle({.type = kType, .token = token, .items = items}, std::nullopt);
  }

  std::optional<ItemState> state(const std::string& id) {
    const auto found = queue().find(kType, ItemId::trusted(id));
    EXPECT_TRUE(found) << found.error().what;
    if (!found || !*found) return std::nullopt;
    return (*found)->state;
  }

  // Every index says what the records say.
  void expect_sound() {
    const auto view = parts_->engine->view();
    ASSERT_TRUE(view);
    std::map<std::string, std::string> due;
    std::map<std::string, Instant> settled;
    std::size_t contexts = 0;
    for (Cursor rows(*view, Family::queue_due, "", ""); rows.valid(); rows.next()) {
      due.emplace(decode_timed_key(kType, rows.key())->id.str(), rows.value());
    }
    for (Cursor rows(*view, Family::queue_settled, "", ""); rows.valid(); rows.next()) {
      const auto key = decode_timed_key(kType, rows.key());
      settled.emplace(key->id.str(), key->at);
    }
    for (Cursor rows(*view, Family::queue_context, "", ""); rows.valid(); rows.next()) ++contexts;
    std::array<std::uint64_t, core::kItemStates> counts{};
    std::size_t items = 0;
    for (Cursor rows(*view, Family::queue_item, "", ""); rows.valid(); rows.next(), ++items) {
      auto record = decode_item(rows.value());
      ASSERT_TRUE(record);
      const std::string id(rows.key().substr(2));
      if (record->state == ItemState::ready && !due.contains(id)) {
        record->state = ItemState::claimed;
      }
      EXPECT_EQ(parts_->writer.queue.claimed(kType, ItemId::trusted(id)).has_value(),
                record->state == ItemState::claimed)
          << id;
      ++counts[static_cast<std::size_t>(record->state)];
      EXPECT_EQ(due.contains(id), record->state == ItemState::ready) << id;
      if (due.contains(id)) {
        EXPECT_EQ(due.at(id), rows.value()) << id;
      }
      EXPECT_EQ(settled.contains(id), core::is_settled(record->state)) << id;
      if (settled.contains(id)) {
        EXPECT_EQ(settled.at(id), record->settled) << id;
      }
    }
    EXPECT_EQ(contexts, items);
    EXPECT_EQ(due.size(), counts[0]);
    EXPECT_EQ(settled.size(), counts[2] + counts[3] + counts[4]);
    EXPECT_EQ(queue().summary(kType)->counts, counts);
  }
};

TEST_F(QueueFaults, a_failed_enqueue_leaves_neither_item_nor_slot) {
  ASSERT_TRUE(parts_->configs.put({.name = ConfigName::trusted("c"),
                                   .pool = PoolName::trusted("c"),
                                   .max_per_window = 1,
                                   .window_size = Seconds{1}},
                                  std::nullopt));
  ASSERT_TRUE(enqueue({"known"})[0]);
  disk_->set(Fault::append_fails);
  for (const auto& answer : enqueue({"a", "b"}, /*slots=*/true)) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, ErrorKind::unavailable);
  }
  // Had the failed charges been kept, the window would look full, which needs no write to say.
  NewItem now_or_never = item("n", /*slot=*/true);
  now_or_never.slot->max_delay = Millis{0};
  EXPECT_EQ(queue().enqueue({&now_or_never, 1}, std::nullopt)[0].error().kind,
            ErrorKind::unavailable);
  EXPECT_EQ(queue().summary(kType)->counts[0], 1U);
  EXPECT_EQ(enqueue({"known"})[0]->result, EnqueueResult::same) << "needs no write";
  heal();
  EXPECT_EQ(state("a"), std::nullopt);
  const auto answers = enqueue({"x"}, /*slots=*/true);
  ASSERT_TRUE(answers[0]) << answers[0].error().what;
  EXPECT_LT(answers[0]->scheduled, kStart + Seconds{1}) << "the first window is free";
  expect_sound();
}

TEST_F(QueueFaults, a_failed_claim_takes_nothing) {
  enqueue({"a", "b", "c"});
  ASSERT_EQ(claim(1, 1)->items.size(), 1U);
  disk_->set(Fault::append_fails);
  ASSERT_FALSE(claim(2, 3));
  EXPECT_EQ(queue().summary(kType)->counts[0], 2U);
  EXPECT_EQ(queue().summary(kType)->oldest_due, kStart);
  heal();
  EXPECT_TRUE((*settle(1, {"a"}))[0]) << "the newer token never claimed";
  EXPECT_EQ(claim(1, 3)->items.size(), 2U);
  expect_sound();
}

TEST_F(QueueFaults, a_failed_settlement_moves_nothing) {
  enqueue({"a", "b"});
  ASSERT_EQ(claim(1, 2)->items.size(), 2U);
  disk_->set(Fault::append_fails);
  ASSERT_FALSE(settle(1, {"a", "b"}));
  heal();
  EXPECT_EQ(state("a"), ItemState::claimed);
  EXPECT_EQ(*settle(1, {"a", "b"}), (std::vector<bool>{true, true}));
  EXPECT_EQ(*settle(1, {"a", "b"}), (std::vector<bool>{false, false}));
  expect_sound();
}

TEST_F(QueueFaults, a_failed_lease_has_no_holder) {
  const LeaseRequest request{.type = kType, .node = "n", .term = Seconds{5}, .paused_until = {}};
  disk_->set(Fault::append_fails);
  ASSERT_FALSE(parts_->leases.acquire(request, std::nullopt));
  heal();
  EXPECT_EQ(parts_->leases.view(kType, std::nullopt)->holder, std::nullopt);
  EXPECT_TRUE(*parts_->leases.acquire(request, std::nullopt));
}

TEST_F(QueueFaults, one_sync_makes_a_batch_durable) {
  std::vector<std::string> ids;
  for (int i = 0; i < 200; ++i) ids.push_back("i" + std::to_string(i));
  const auto syncs = [&](const auto& work) {
    const int before = disk_->log_syncs();
    work();
    return disk_->log_syncs() - before;
  };
  EXPECT_EQ(syncs([&] { enqueue(ids); }), 1);
  EXPECT_EQ(syncs([&] { enqueue(ids); }), 0) << "nothing new";
  EXPECT_EQ(syncs([&] { EXPECT_TRUE(claim(1, 500)); }), 1);
  EXPECT_EQ(syncs([&] { EXPECT_TRUE(claim(1, 500)); }), 0) << "nothing due";
  EXPECT_EQ(syncs([&] { EXPECT_TRUE(settle(1, ids)); }), 1);
  EXPECT_EQ(syncs([&] { EXPECT_TRUE(settle(1, ids)); }), 0) << "nothing claimed";
  EXPECT_EQ(syncs([&] { EXPECT_EQ(queue().forget(kType, kStart + Seconds{1}, 500), 200U); }), 1);
  expect_sound();
}

TEST_F(QueueFaults, finds_what_comes_in_before_what_was_claimed) {
  enqueue({"b"});
  ASSERT_EQ(claim(1, 10)->items.size(), 1U);
  NewItem earlier = item("a");
  earlier.due = kStart - Seconds{1};
  ASSERT_TRUE(queue().enqueue({&earlier, 1}, std::nullopt)[0]);
  EXPECT_EQ(queue().summary(kType)->oldest_due, earlier.due);
  EXPECT_EQ(claim(1, 10)->items.size(), 1U);
  ASSERT_TRUE((*settle(1, {"b"}, Outcome::give_back))[0]);
  EXPECT_EQ(claim(1, 10)->items.size(), 1U);
}

// A story long enough to leave its record, over a restart, and nothing of it stays.
TEST_F(QueueFaults, keeps_a_long_audit_in_pages_and_forgets_them) {
  enqueue({"a"});
  for (int i = 0; i < 40; ++i) {
    ASSERT_EQ(claim(1, 1)->items.size(), 1U);
    ASSERT_TRUE((*settle(1, {"a"}, Outcome::give_back))[0]);
    if (i == 20) cut_power_and_restart();
  }
  ASSERT_EQ(claim(1, 1)->items.size(), 1U);
  ASSERT_TRUE((*settle(1, {"a"}))[0]);
  const auto found = queue().find(kType, ItemId::trusted("a"));
  ASSERT_TRUE(found && *found);
  ASSERT_EQ((*found)->audit.size(), 83U);
  for (std::size_t i = 1; i + 1 < 83; i += 2) {
    EXPECT_EQ((*found)->audit[i].action, "CLAIMED") << i;
    EXPECT_EQ((*found)->audit[i].batch_id, batch_name((i + 1) / 2));
    EXPECT_EQ((*found)->audit[i + 1].action, i == 81 ? "DISPATCHED" : "RETURNED") << i;
  }
  const auto pages = [&] {
    const auto view = parts_->engine->view();
    int count = 0;
    for (Cursor rows(*view, Family::queue_audit, "", ""); rows.valid(); rows.next()) ++count;
    return count;
  };
  EXPECT_GT(pages(), 2);
  EXPECT_EQ(queue().forget(kType, kStart + Seconds{1}, 10), 1U);
  EXPECT_EQ(pages(), 0);
  expect_sound();
}

TEST_F(QueueFaults, random_faults_leave_every_step_in_whole_or_not_at_all) {
  Rng rng(20'250'602);
  std::map<std::string, bool> accepted;  // -> acknowledged as dispatched
  FencingToken token = 1;
  for (int step = 0; step < 300; ++step) {
    disk_->set(rng.below(5) == 0 ? static_cast<Fault>(rng.between(1, 3)) : Fault::none);
    switch (rng.below(4)) {
      case 0: {
        std::vector<std::string> ids;
        for (std::uint64_t n = rng.below(20) + 1; n > 0; --n) {
          ids.push_back("i" + std::to_string(rng.below(3'000)));
        }
        const auto answers = enqueue(ids);
        for (std::size_t i = 0; i < ids.size(); ++i) {
          if (answers[i]) accepted.emplace(ids[i], false);
        }
        break;
      }
      case 1: {
        if (rng.below(8) == 0) ++token;
        std::ignore = claim(token, rng.below(20));
        break;
      }
      case 2: {
        const Result<Claim> got = claim(token, 10);
        if (!got) break;
        std::vector<std::string> ids;
        for (const ClaimedItem& each : got->items) ids.push_back(each.id.str());
        const Outcome outcome = rng.below(3) == 0 ? Outcome::give_back : Outcome::done;
        disk_->set(rng.below(5) == 0 ? static_cast<Fault>(rng.between(1, 3)) : Fault::none);
        const auto moved = settle(token, ids, outcome);
        if (!moved) break;
        for (std::size_t i = 0; i < ids.size(); ++i) {
          EXPECT_TRUE((*moved)[i]);
          EXPECT_FALSE(accepted[ids[i]]) << "settled twice: " << ids[i];
          accepted[ids[i]] = outcome == Outcome::done;
        }
        break;
      }
      default:
        clock_.advance(Millis{600});
        if (rng.below(8) == 0) {
          cut_power_and_restart();
          ASSERT_NE(parts_, nullptr);
          expect_sound();
        }
    }
  }
  heal();
  expect_sound();
  EXPECT_GT(accepted.size(), 200U);
  int dispatched = 0;
  for (const auto& [id, done] : accepted) {
    const std::optional<ItemState> now = state(id);
    ASSERT_TRUE(now) << id << " was lost";
    if (done) {
      EXPECT_EQ(now, ItemState::dispatched) << id;
    }
    dispatched += done ? 1 : 0;
  }
  EXPECT_GT(dispatched, 50);
  // Nothing is stuck: a new holder gets all that is left.
  std::size_t left = 0;
  for (std::size_t got = 1; got > 0; left += got) {
    got = claim(token + 1, 100)->items.size();
  }
  const auto counts = queue().summary(kType)->counts;
  EXPECT_EQ(counts[0], 0U);
  EXPECT_EQ(counts[1], left);
}

}  // namespace
}  // namespace penstock::store::embedded
