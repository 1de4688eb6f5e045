// What the queue on PostgreSQL promises beyond the suites: news between nodes, counts that stay
// true, no deadlocks, no slot without its item.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "store/postgres/testing/asks.h"
#include "store/postgres/testing/test_server.h"

namespace penstock::store::postgres {
namespace {

const ItemType kType = ItemType::trusted("T");

NewItem item(const std::string& id, Instant due = kNoon) {
  return {.type = kType, .id = ItemId::trusted(id), .due = due, .context = "{}"};
}

class Dispatch : public testing::Test {
 protected:
  Dispatch() : database_(server().fresh_database()), store_(node()) {}
  ~Dispatch() override {
    store_.reset();
    server().drop(database_);
  }

  std::unique_ptr<PostgresStore> node() {
    return open_store({.url = server().url(database_), .deadline = Seconds{20}});
  }
  QueueStore& queue() { return *store_->backend().queue.store; }
  long long number(const std::string& sql) { return server().number(database_, sql); }

  static void put_items(QueueStore& queue, const std::vector<NewItem>& items, Instant now = kNoon) {
    for (const auto& answer : queue.enqueue(items, now)) {
      ASSERT_TRUE(answer) << answer.error().what;
    }
  }
  static Result<Claim> claim(QueueStore& queue, FencingToken token, std::size_t limit) {
    return queue.claim(
        {.type = kType, .token = token, .limit = limit, .stale = std::chrono::hours{1}}, kNoon);
  }
  static std::vector<Settlement> settlements(const Claim& claim, Outcome outcome) {
    std::vector<Settlement> items;
    for (const ClaimedItem& each : claim.items) {
      items.push_back({.id = each.id,
                       .batch_id = claim.batch_id,
                       .outcome = outcome,
                       .detail = "why",
                       .not_before = kNoon});
    }
    return items;
  }

  const std::string database_;
  std::unique_ptr<PostgresStore> store_;
};

// What a node hears, and a way to wait for it.
class Ear {
 public:
  explicit Ear(ItemFeed& feed) : feed_(feed) {
    feed.subscribe([this](const std::optional<ItemType>& type) {
      const std::lock_guard lock(mutex_);
      heard_.push_back(type ? type->str() : "");
      news_.notify_all();
    });
  }
  ~Ear() { feed_.subscribe(nullptr); }

  bool wait_for(const std::string& name) {
    std::unique_lock lock(mutex_);
    return news_.wait_for(lock, Seconds{30}, [&] { return std::ranges::count(heard_, name) > 0; });
  }
  std::vector<std::string> heard() {
    const std::lock_guard lock(mutex_);
    return heard_;
  }

 private:
  ItemFeed& feed_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::vector<std::string> heard_;
};

// Returns when the node's connection for news is there.
void connected(Ear& ear, QueueStore& queue) {
  const runtime::Stopwatch watch;
  for (int i = 0; std::ranges::count(ear.heard(), "PROBE") == 0; ++i) {
    ASSERT_LT(watch.seconds(), 30) << "no news";
    NewItem probe = item("p" + std::to_string(i));
    probe.type = ItemType::trusted("PROBE");
    ASSERT_TRUE(queue.enqueue({&probe, 1}, kNoon).at(0));
  }
}

TEST_F(Dispatch, tells_every_node_of_items_that_are_due_soon) {
  const auto other = node();
  Ear ear(*other->backend().queue.feed);
  connected(ear, queue());
  put_items(queue(), {item("soon", kNoon + kAnnounceWithin)});
  EXPECT_TRUE(ear.wait_for("T"));
  NewItem later = item("x", kNoon + kAnnounceWithin + Millis{1});
  later.type = ItemType::trusted("LATER");
  NewItem last = item("y");
  last.type = ItemType::trusted("LAST");
  put_items(queue(), {later});
  put_items(queue(), {last});
  ASSERT_TRUE(ear.wait_for("LAST"));
  const std::vector<std::string> heard = ear.heard();
  EXPECT_EQ(std::ranges::count(heard, "LATER"), 0);
}

TEST_F(Dispatch, says_that_anything_may_have_come_after_the_connection_was_lost) {
  Ear ear(*store_->backend().queue.feed);
  connected(ear, queue());
  const auto before = std::ranges::count(ear.heard(), "");
  server().query(database_,
                 "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '" +
                     database_ + "' AND pid <> pg_backend_pid()");
  const runtime::Stopwatch watch;
  while (std::ranges::count(ear.heard(), "") == before) {
    ASSERT_LT(watch.seconds(), 30);
    std::this_thread::yield();
  }
}

TEST_F(Dispatch, finds_what_another_node_enqueued_before_the_place_of_the_last_claim) {
  Ear ear(*store_->backend().queue.feed);
  connected(ear, queue());
  const auto other = node();
  put_items(queue(), {item("b"), item("c"), item("d")});
  ASSERT_TRUE(ear.wait_for("T"));
  ASSERT_EQ(claim(queue(), 1, 2)->items.size(), 2U);
  put_items(*other->backend().queue.store, {item("a", kNoon - Seconds{10})});
  NewItem last = item("last");
  last.type = ItemType::trusted("LAST");
  put_items(*other->backend().queue.store, {last});
  ASSERT_TRUE(ear.wait_for("LAST"));
  const Result<Claim> next = claim(queue(), 1, 1);
  ASSERT_EQ(next->items.size(), 1U);
  EXPECT_EQ(next->items[0].id.str(), "a");
}

TEST_F(Dispatch, counts_stay_true_while_they_are_folded) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> folders;
  for (int i = 0; i < 2; ++i) {
    folders.emplace_back([&] {
      while (!stop) number("SELECT penstock.fold_counts()");
    });
  }
  std::uint64_t done = 0;
  for (int i = 0; i < 150; ++i) {
    put_items(queue(), {item("i" + std::to_string(i)), item("j" + std::to_string(i))});
    const Result<Claim> got = claim(queue(), 1, 1);
    ASSERT_TRUE(got) << got.error().what;
    const auto moved = queue().settle(
        {.type = kType, .token = 1, .items = settlements(*got, Outcome::done)}, kNoon);
    ASSERT_TRUE(moved) << moved.error().what;
    ++done;
    const Result<QueueSummary> summary = queue().summary(kType);
    ASSERT_TRUE(summary);
    ASSERT_EQ(summary->counts, (std::array<std::uint64_t, 5>{done, 0, done, 0, 0}));
  }
  stop = true;
  for (std::thread& folder : folders) folder.join();
  EXPECT_GT(number("SELECT sum(dispatched) FROM penstock.dispatch_total"), 0) << "nothing folded";
}

TEST_F(Dispatch, counts_survive_a_move_to_a_server_with_lower_transaction_numbers) {
  put_items(queue(), {item("a"), item("b")});
  server().query(database_,
                 "INSERT INTO penstock.dispatch_total (type_id, below, ready)"
                 "  SELECT type_id, '999999999999', 40 FROM penstock.dispatch_type");
  EXPECT_EQ(queue().summary(kType)->counts[0], 42U);
  for (int i = 0; i < 40; ++i) put_items(queue(), {item("i" + std::to_string(i))});
  number("SELECT penstock.fold_counts()");
  EXPECT_EQ(queue().summary(kType)->counts[0], 82U);
}

// Claims that take over, late settlements in batches, cancels, redrives, repeats of enqueues and
// forgetting, all at once over few items.
TEST_F(Dispatch, never_deadlocks) {
  constexpr int kItems = 60;
  std::vector<NewItem> all;
  for (int i = 0; i < kItems; ++i) all.push_back(item("i" + std::to_string(i)));
  std::atomic<FencingToken> newest{1};
  std::atomic<int> problems{0};
  const auto fine = [&](const auto& result) {
    if (result || result.error().kind == ErrorKind::conflict ||
        result.error().kind == ErrorKind::not_found) {
      return;
    }
    ++problems;
    ADD_FAILURE() << result.error().what;
  };
  const auto dispatcher = [&](std::uint64_t seed) {
    Rng rng(seed);
    for (int i = 0; i < 80; ++i) {
      const FencingToken token = rng.below(2) == 0 ? ++newest : newest.load();
      const Result<Claim> got = claim(queue(), token, 1 + rng.below(kItems));
      fine(got);
      if (!got) continue;
      fine(queue().settle({.type = kType,
                           .token = token,
                           .retries_max = 3,
                           .items = settlements(*got, static_cast<Outcome>(rng.below(4)))},
                          kNoon));
    }
  };
  const auto meddler = [&](std::uint64_t seed) {
    Rng rng(seed);
    for (int i = 0; i < 120; ++i) {
      const ItemId id = ItemId::trusted("i" + std::to_string(rng.below(kItems)));
      switch (rng.below(4)) {
        case 0:
          fine(queue().cancel(kType, id, kNoon));
          break;
        case 1:
          fine(queue().redrive(kType, id, kNoon));
          break;
        case 2:
          fine(queue().forget(kType, kNoon + Seconds{1}, 1 + rng.below(20)));
          break;
        default:
          for (const auto& answer : queue().enqueue(all, kNoon)) fine(answer);
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < 3; ++i) {
      threads.emplace_back([&, i] { dispatcher(i); });
      threads.emplace_back([&, i] { meddler(100 + i); });
    }
  }
  EXPECT_EQ(problems, 0);
  server().query(database_, "SELECT pg_stat_force_next_flush()");
  EXPECT_EQ(number("SELECT deadlocks FROM pg_stat_database WHERE datname = '" + database_ + "'"),
            0);
  // The counts are the truth, and the audit has no gaps.
  const QueueSummary summary = queue().summary(kType).value();
  const char* const names[] = {"READY", "CLAIMED", "DISPATCHED", "DEAD", "CANCELLED"};
  for (std::size_t i = 0; i < core::kItemStates; ++i) {
    EXPECT_EQ(static_cast<long long>(summary.counts[i]),
              number("SELECT count(*) FROM penstock.dispatch_item_readable WHERE state = '" +
                     std::string(names[i]) + "'"))
        << names[i];
  }
  EXPECT_EQ(number("SELECT count(*) FROM (SELECT item_no FROM penstock.dispatch_audit"
                   " GROUP BY item_no HAVING max(entry) <> count(*)) gaps"),
            0);
  EXPECT_EQ(number("SELECT count(*) FROM penstock.dispatch_audit a WHERE NOT EXISTS"
                   " (SELECT FROM penstock.dispatch_item i WHERE i.item_no = a.item_no)"),
            0);
}

TEST_F(Dispatch, leaves_no_slot_behind_when_the_items_cannot_be_written) {
  put(*store_, 10);
  server().query(database_,
                 "CREATE FUNCTION penstock.refuse() RETURNS trigger LANGUAGE plpgsql AS"
                 " $$BEGIN RAISE EXCEPTION 'no'; END$$;"
                 "CREATE TRIGGER refuse BEFORE INSERT ON penstock.dispatch_queue FOR EACH ROW"
                 " WHEN (new.item_id = 'bad') EXECUTE FUNCTION penstock.refuse()");
  std::vector<NewItem> items = {item("good"), item("bad"), item("plain")};
  items[0].slot = ask("T:good");
  items[1].slot = ask("T:bad");
  for (const auto& answer : queue().enqueue(items, kNoon)) EXPECT_FALSE(answer);
  EXPECT_EQ(number("SELECT count(*) FROM penstock.event_slot"), 0);
  EXPECT_EQ(number("SELECT count(*) FROM penstock.dispatch_item"), 0);
  expect_settled(database_);
  items.erase(items.begin() + 1);
  for (const auto& answer : queue().enqueue(items, kNoon)) EXPECT_TRUE(answer);
  EXPECT_EQ(number("SELECT count(*) FROM penstock.event_slot"), 1);
  EXPECT_EQ(number("SELECT count(*) FROM penstock.dispatch_queue"), 2);
  expect_settled(database_);
}

TEST_F(Dispatch, gives_one_slot_when_many_enqueue_the_same_item) {
  put(*store_, 10);
  std::atomic<int> created{0};
  {
    std::vector<std::jthread> callers;
    for (int t = 0; t < 4; ++t) {
      callers.emplace_back([&] {
        for (int i = 0; i < 20; ++i) {
          NewItem one = item("x" + std::to_string(i));
          one.slot = ask("T:x" + std::to_string(i));
          const auto answers = queue().enqueue({&one, 1}, kNoon);
          ASSERT_TRUE(answers[0]) << answers[0].error().what;
          if (answers[0]->result == EnqueueResult::created) ++created;
        }
      });
    }
  }
  EXPECT_EQ(created, 20);
  EXPECT_EQ(number("SELECT count(*) FROM penstock.event_slot"), 20);
  EXPECT_EQ(number("SELECT count(*) FROM penstock.dispatch_queue"), 20);
  expect_settled(database_);
}

TEST_F(Dispatch, keeps_any_bytes_that_a_sink_says) {
  put_items(queue(), {item("a")});
  Result<Claim> got = claim(queue(), 1, 1);
  std::vector<Settlement> items = settlements(*got, Outcome::failed);
  items[0].detail = std::string("\xff\xfe\0 no text", 11);
  ASSERT_EQ(queue().settle({.type = kType, .token = 1, .items = items}, kNoon),
            std::vector<bool>{true});
  EXPECT_EQ((*queue().find(kType, ItemId::trusted("a")))->last_error, items[0].detail);
}

TEST_F(Dispatch, a_claim_is_a_change_that_no_index_sees) {
  std::vector<NewItem> items;
  for (int i = 0; i < 2'000; ++i) items.push_back(item("i" + std::to_string(i)));
  put_items(queue(), items);
  ASSERT_EQ(claim(queue(), 1, 2'000)->items.size(), 2'000U);
  store_.reset();  // sends what it counted
  const runtime::Stopwatch watch;
  const std::string from =
      " FROM pg_stat_user_tables WHERE schemaname = 'penstock' AND relname = 'dispatch_queue'";
  while (number("SELECT n_tup_upd" + from) < 2'000) {
    ASSERT_LT(watch.seconds(), 30);
    std::this_thread::yield();
  }
  EXPECT_EQ(number("SELECT n_tup_hot_upd" + from), number("SELECT n_tup_upd" + from));
}

}  // namespace
}  // namespace penstock::store::postgres
