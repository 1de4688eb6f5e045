// Random histories on a backend and on the model give the same answers; and two dispatchers with
// crashes lose nothing and settle nothing twice. Included by queue_suite.h.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "store/queue/conformance/queue_harness.h"
#include "store/queue/conformance/queue_model.h"

namespace penstock::store::conformance {

class QueueHistory {
 public:
  QueueHistory(QueueStore& store, QueueStore& model, std::uint64_t seed)
      : store_(store), model_(model), rng_(seed) {}

  void step() {
    now_ += Millis{rng_.between(0, 3'000)};
    switch (rng_.below(10)) {
      case 0:
      case 1:
      case 2:
        return enqueue();
      case 3:
      case 4:
        return claim();
      case 5:
      case 6:
      case 7:
        return settle();
      case 8:
        return cancel_or_redrive();
      default:
        return compare();
    }
  }

  void compare() {
    for (const char* type : {"T", "U"}) {
      const QueueSummary got = store_.summary(item_type(type)).value();
      const QueueSummary expected = model_.summary(item_type(type)).value();
      ASSERT_EQ(got.counts, expected.counts);
      ASSERT_EQ(got.oldest_due, expected.oldest_due);
      compare_dead(item_type(type));
    }
    for (int i = 0; i < 5; ++i) {
      const ItemType type = any_type();
      const ItemId id = any_id();
      const std::optional<ItemView> got = store_.find(type, id).value();
      const std::optional<ItemView> expected = model_.find(type, id).value();
      ASSERT_EQ(got.has_value(), expected.has_value());
      if (got) same(*got, *expected);
    }
  }

 private:
  ItemType any_type() { return item_type(rng_.below(3) == 0 ? "U" : "T"); }
  ItemId any_id() { return item_id("i" + std::to_string(rng_.below(40))); }

  // Page by page.
  void compare_dead(const ItemType& type) {
    std::optional<DeadPlace> after;
    const std::size_t limit = 1 + rng_.below(5);
    while (true) {
      const std::vector<DeadItem> got = store_.dead(type, after, limit).value();
      ASSERT_EQ(got, model_.dead(type, after, limit).value());
      if (got.size() < limit) return;
      after = DeadPlace{.died = got.back().died, .id = got.back().id};
    }
  }

  void enqueue() {
    std::vector<NewItem> items;
    for (std::uint64_t n = 1 + rng_.below(6); n > 0; --n) {
      items.push_back(new_item(any_type().str(), any_id().str(),
                               cut_to_millis(now_ + Millis{rng_.between(-5'000, 9'000)} / 1'000),
                               rng_.below(2) == 0 ? R"({"a":1})" : R"({"a":2})"));
    }
    const auto got = store_.enqueue(items, now_);
    const auto expected = model_.enqueue(items, now_);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_TRUE(got[i]) << got[i].error().what;
      ASSERT_EQ(got[i]->result, expected[i]->result);
      ASSERT_EQ(got[i]->state, expected[i]->state);
      ASSERT_EQ(got[i]->scheduled, expected[i]->scheduled);
    }
  }

  void claim() {
    if (rng_.below(4) == 0) ++token_;
    const ClaimRequest request{.type = any_type(),
                               .token = rng_.below(10) == 0 && token_ > 1 ? token_ - 1 : token_,
                               .limit = 1 + rng_.below(8),
                               .early = Millis{rng_.below(2) * 2'000},
                               .stale = Seconds{60},
                               .retries_max = static_cast<int>(rng_.between(2, 4))};
    const Result<Claim> got = store_.claim(request, now_);
    const Result<Claim> expected = model_.claim(request, now_);
    ASSERT_EQ(got.has_value(), expected.has_value());
    if (!got) return;
    ASSERT_EQ(got->items.size(), expected->items.size());
    for (std::size_t i = 0; i < got->items.size(); ++i) {
      const ClaimedItem& a = got->items[i];
      const ClaimedItem& b = expected->items[i];
      ASSERT_EQ(a.id, b.id);
      ASSERT_EQ(a.scheduled, b.scheduled);
      ASSERT_EQ(a.retry_count, b.retry_count);
      ASSERT_EQ(a.attempts, b.attempts);
      ASSERT_EQ(a.context, b.context);
    }
    ASSERT_EQ(got->next_due, expected->next_due);
  }

  void settle() {
    std::set<ItemId> ids;
    for (std::uint64_t n = 1 + rng_.below(6); n > 0; --n) ids.insert(any_id());
    std::vector<Settlement> items;
    for (const ItemId& id : ids) {
      items.push_back({.id = id,
                       .batch_id = "b",
                       .outcome = static_cast<Outcome>(rng_.below(4)),
                       .detail = "d" + std::to_string(rng_.below(100)),
                       .not_before = cut_to_millis(now_ + Millis{rng_.between(0, 5'000)})});
    }
    const SettleRequest request{.type = any_type(),
                                .token = token_,
                                .retries_max = static_cast<int>(rng_.between(2, 4)),
                                .items = items};
    ASSERT_EQ(store_.settle(request, now_).value(), model_.settle(request, now_).value());
  }

  void cancel_or_redrive() {
    const ItemType type = any_type();
    const ItemId id = any_id();
    const bool cancel = rng_.below(2) == 0;
    const Result<ItemView> got =
        cancel ? store_.cancel(type, id, now_) : store_.redrive(type, id, now_);
    const Result<ItemView> expected =
        cancel ? model_.cancel(type, id, now_) : model_.redrive(type, id, now_);
    ASSERT_EQ(got.has_value(), expected.has_value());
    if (got) return same(*got, *expected);
    ASSERT_EQ(got.error().kind, expected.error().kind);
  }

  static void same(const ItemView& a, const ItemView& b) {
    ASSERT_EQ(a.state, b.state) << a.id.str();
    ASSERT_EQ(a.scheduled, b.scheduled);
    ASSERT_EQ(a.retry_count, b.retry_count);
    ASSERT_EQ(a.attempts, b.attempts);
    ASSERT_EQ(a.last_error, b.last_error);
    ASSERT_EQ(a.created, b.created);
    ASSERT_EQ(a.claimed, b.claimed);
    ASSERT_EQ(a.dispatched, b.dispatched);
    ASSERT_EQ(a.audit.size(), b.audit.size()) << a.id.str();
    for (std::size_t i = 0; i < a.audit.size(); ++i) {
      ASSERT_EQ(a.audit[i].action, b.audit[i].action);
      ASSERT_EQ(a.audit[i].at, b.audit[i].at);
      ASSERT_EQ(a.audit[i].from, b.audit[i].from);
      ASSERT_EQ(a.audit[i].to, b.audit[i].to);
      ASSERT_EQ(a.audit[i].detail, b.audit[i].detail);
    }
  }

  QueueStore& store_;
  QueueStore& model_;
  Rng rng_;
  Instant now_ = kNoon;
  FencingToken token_ = 1;
};

TEST_P(QueueDifferentialSuite, equals_the_model_over_random_histories) {
  for (const std::uint64_t seed : {1ULL, 2ULL, 3ULL}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    harness().reopen();
    const SimulatedClock clock(kNoon);
    QueueModel model(clock);
    // Each seed has types of its own, since the store is not emptied.
    QueueHistory history(queue(), model, seed);
    for (int i = 0; i < 400 && !HasFatalFailure(); ++i) history.step();
    if (HasFatalFailure()) return;
    history.compare();
    if (seed != 3) SetUp();
    if (HasFatalFailure()) return;
  }
}

// Two dispatchers take turns at the lease at random moments, forget what they hold (a crash), and
// settle late. Every item is DISPATCHED in the end, by exactly one settlement that counted.
TEST_P(QueueConcurrencySuite, loses_nothing_and_settles_nothing_twice) {
  constexpr int kItems = 400;
  put_many("i", kItems, kNoon);
  std::atomic<FencingToken> newest{0};
  std::mutex mutex;
  std::map<std::string, int> settled;
  std::atomic<int> done{0};
  const auto dispatcher = [&](std::uint64_t seed) {
    Rng rng(seed);
    FencingToken token = 0;
    while (done < kItems) {
      if (token == 0 || rng.below(6) == 0) token = ++newest;
      Result<Claim> got = queue().claim({.type = item_type("T"),
                                         .token = token,
                                         .limit = 1 + rng.below(30),
                                         .stale = Seconds{600}},
                                        kNoon);
      if (!got) {
        EXPECT_EQ(got.error().kind, ErrorKind::conflict) << got.error().what;
        if (got.error().kind != ErrorKind::conflict) return;
        token = 0;
        continue;
      }
      if (rng.below(5) == 0) {
        token = 0;  // a crash: the claims are the next holder's
        continue;
      }
      std::vector<Settlement> items;
      for (const ClaimedItem& item : got->items) {
        items.push_back({.id = item.id,
                         .batch_id = got->batch_id,
                         .outcome = rng.below(10) == 0 ? Outcome::give_back : Outcome::done,
                         .detail = {},
                         .not_before = kNoon});
      }
      const Result<std::vector<bool>> moved =
          queue().settle({.type = item_type("T"), .token = token, .items = items}, kNoon);
      ASSERT_TRUE(moved) << moved.error().what;
      const std::lock_guard lock(mutex);
      for (std::size_t i = 0; i < items.size(); ++i) {
        if (!(*moved)[i] || items[i].outcome != Outcome::done) continue;
        ++settled[items[i].id.str()];
        ++done;
      }
    }
  };
  {
    std::jthread other([&] { dispatcher(1); });
    dispatcher(2);
  }
  EXPECT_EQ(settled.size(), static_cast<std::size_t>(kItems));
  for (const auto& [id, times] : settled) EXPECT_EQ(times, 1) << id;
  EXPECT_EQ(count(ItemState::dispatched), static_cast<std::uint64_t>(kItems));
}

TEST_P(QueueConcurrencySuite, takes_an_item_of_many_callers_once) {
  std::atomic<int> created{0};
  {
    std::vector<std::jthread> callers;
    for (int t = 0; t < 4; ++t) {
      callers.emplace_back([&] {
        for (int i = 0; i < 50; ++i) {
          const std::vector<NewItem> items = {new_item("T", "x" + std::to_string(i), kNoon),
                                              new_item("T", "y" + std::to_string(i / 2), kNoon)};
          for (const Result<Enqueued>& each : queue().enqueue(items, kNoon)) {
            EXPECT_TRUE(each) << each.error().what;
            if (each && each->result == EnqueueResult::created) ++created;
          }
        }
      });
    }
  }
  EXPECT_EQ(created, 75);
  EXPECT_EQ(count(ItemState::ready), 75U);
}

TEST_P(QueueConcurrencySuite, either_cancels_or_claims) {
  constexpr int kItems = 200;
  put_many("i", kItems, kNoon);
  std::atomic<int> cancelled{0};
  std::size_t claimed = 0;
  {
    std::jthread canceller([&] {
      for (int i = kItems - 1; i >= 0; --i) {
        const Result<ItemView> gone =
            queue().cancel(item_type("T"), item_id("i" + std::to_string(1'000 + i)), kNoon);
        if (gone) {
          ++cancelled;
        } else {
          EXPECT_EQ(gone.error().kind, ErrorKind::conflict) << gone.error().what;
        }
      }
    });
    for (int i = 0; i < 200; ++i) claimed += claim(1, 3).items.size();
  }
  claimed += claim(1, kItems).items.size();
  EXPECT_EQ(claimed + static_cast<std::size_t>(cancelled), static_cast<std::size_t>(kItems));
  EXPECT_EQ(count(ItemState::cancelled), static_cast<std::uint64_t>(cancelled));
}

TEST_P(LeaseSuite, never_has_two_holders) {
  std::atomic<int> holders{0};
  std::mutex mutex;
  std::set<FencingToken> tokens;
  {
    std::vector<std::jthread> nodes;
    for (int t = 0; t < 4; ++t) {
      nodes.emplace_back([&, t] {
        const std::string node = "n" + std::to_string(t);
        for (int i = 0; i < 30; ++i) {
          const Result<std::optional<Lease>> lease = leases().acquire(
              {.type = item_type("T"), .node = node, .term = Seconds{600}, .paused_until = {}},
              kNoon);
          EXPECT_TRUE(lease) << lease.error().what;
          if (!lease || !*lease) continue;
          EXPECT_EQ(++holders, 1);
          {
            const std::lock_guard lock(mutex);
            EXPECT_TRUE(tokens.insert((*lease)->token).second) << "a token twice";
          }
          --holders;
          EXPECT_TRUE(leases().release(item_type("T"), node));
        }
      });
    }
  }
  EXPECT_GT(tokens.size(), 0U);
}

}  // namespace penstock::store::conformance
