#include "service/dispatch/board.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "store/conformance/queue_model.h"

namespace penstock::service {
namespace {

using core::ItemTypeSettings;
using sink::SinkOutcome;
using store::conformance::QueueModel;

constexpr Instant kStart = from_epoch_millis(1'750'000'000'000);
const ItemType kType = ItemType::trusted("T");

// Things that happen at their time, in order.
class World {
 public:
  explicit World(std::uint64_t seed) : rng(seed) {}

  void at(Instant when, std::function<void()> what) {
    events_.emplace(std::pair(when, order_++), std::move(what));
  }
  void after(Micros delay, std::function<void()> what) { at(now() + delay, std::move(what)); }
  // Within [least, most].
  Micros some(Millis least, Millis most) {
    return Micros{rng.between(Micros{least}.count(), Micros{most}.count())};
  }

  void run_until(Instant end) {
    while (!events_.empty() && events_.begin()->first.first <= end) {
      auto first = events_.begin();
      clock.set(std::max(clock.now(), first->first.first));
      const std::function<void()> what = std::move(first->second);
      events_.erase(first);
      what();
    }
    clock.set(end);
  }
  Instant now() const { return clock.now(); }

  SimulatedClock clock{kStart};
  Rng rng;

 private:
  std::map<std::pair<Instant, std::uint64_t>, std::function<void()>> events_;
  std::uint64_t order_ = 0;
};

// Where items arrive: what happens there is up to the test.
class Downstream {
 public:
  std::function<sink::SinkAnswer(const sink::Handover&)> answer = [](const sink::Handover&) {
    return sink::SinkAnswer{};
  };
  std::vector<std::pair<Instant, std::string>> arrived;

  std::int64_t most_in_a_second() const {
    std::int64_t most = 0;
    for (std::size_t first = 0, last = 0; last < arrived.size(); ++last) {
      while (arrived[last].first - arrived[first].first >= Seconds{1}) ++first;
      most = std::max(most, static_cast<std::int64_t>(last - first + 1));
    }
    return most;
  }
  std::map<std::string, int> times() const {
    std::map<std::string, int> times;
    for (const auto& [at, id] : arrived) ++times[id];
    return times;
  }
};

// One node: its board, driven as the dispatcher's thread would, by calls that take their time.
class Node {
 public:
  Node(World& world, QueueModel& store, Downstream& downstream, const ItemTypeSettings& settings,
       std::string name)
      : world_(world),
        store_(store),
        downstream_(downstream),
        settings_(settings),
        name_(std::move(name)),
        board_(std::make_unique<DispatchBoard>(kType, world.rng())) {}

  void wake() {
    if (!board_) return;
    const DispatchBoard::Orders orders = board_->turn(settings_, world_.now(), stopping_);
    if (orders.ask_lease) ask_lease();
    if (orders.claim > 0) claim(orders.claim);
    if (!orders.settle.empty()) settle(orders.settle);
    Instant again = orders.look_again;
    while (auto sending = board_->take(settings_, world_.now(), again)) send(std::move(*sending));
    call(again - world_.now(), [](DispatchBoard&) {});
  }

  // All that this node knew is gone; calls under way still reach the store and the downstream.
  void crash() { board_.reset(); }
  void restart() {
    name_ += "'";  // a process that starts again is another node
    board_ = std::make_unique<DispatchBoard>(kType, world_.rng());
    wake();
  }
  void stop() {
    stopping_ = true;
    wake();
  }
  const DispatchBoard* board() const { return board_.get(); }

 private:
  // Runs `what` later, unless the node has crashed by then; then looks what is to be done.
  void call(Micros delay, std::function<void(DispatchBoard&)> what) {
    world_.after(delay, [this, what, board = board_.get()] {
      if (board_.get() != board || board == nullptr) return;
      what(*board);
      wake();
    });
  }

  void ask_lease() {
    const Instant asked = world_.now();
    const Instant paused = board_->paused_until(world_.now());
    world_.after(world_.some(Millis{0}, Millis{20}), [this, asked, paused, board = board_.get()] {
      const auto lease = store_.acquire(
          {.type = kType, .node = name_, .term = kLeaseTerm, .paused_until = paused}, std::nullopt);
      if (board_.get() != board) return;
      call(world_.some(Millis{0}, Millis{20}), [this, asked, lease](DispatchBoard& b) {
        b.on_lease(lease, settings_, asked, world_.now());
      });
    });
  }

  void claim(std::size_t limit) {
    const store::ClaimRequest request{.type = kType,
                                      .token = board_->token(),
                                      .limit = limit,
                                      .early = claim_ahead(settings_),
                                      .stale = settings_.stale_claim_threshold,
                                      .retries_max = settings_.max_dispatch_retries};
    world_.after(world_.some(Millis{0}, Millis{30}), [this, request, board = board_.get()] {
      auto claimed = std::make_shared<Result<store::Claim>>(store_.claim(request, std::nullopt));
      if (board_.get() != board) return;
      call(world_.some(Millis{0}, Millis{30}), [this, claimed, request](DispatchBoard& b) {
        b.on_claim(std::move(*claimed), request.limit, settings_, world_.now());
      });
    });
  }

  void settle(std::vector<store::Settlement> items) {
    const store::FencingToken token = board_->token();
    world_.after(world_.some(Millis{0}, Millis{30}), [this, items, token, board = board_.get()] {
      const bool lost = world_.rng.below(20) == 0;  // the request, before it was carried out
      if (!lost) {
        const auto moved = store_.settle({.type = kType,
                                          .token = token,
                                          .retries_max = settings_.max_dispatch_retries,
                                          .items = items},
                                         std::nullopt);
        ASSERT_TRUE(moved);
      }
      if (board_.get() != board) return;
      const bool answered = !lost && world_.rng.below(20) != 0;
      call(world_.some(Millis{0}, Millis{30}), [this, items, answered](DispatchBoard& b) {
        b.on_settled(answered, std::vector(items), world_.now());
      });
    });
  }

  void send(DispatchBoard::Sending sending) {
    downstream_.arrived.emplace_back(world_.now(), sending.handover.id.str());
    const sink::SinkAnswer answer = downstream_.answer(sending.handover);
    call(world_.some(Millis{1}, Millis{40}), [this, sending, answer](DispatchBoard& b) {
      b.on_answer(sending.handover.id, sending.batch_id, sending.handover.retry_count,
                  sink::SinkAnswer(answer), settings_, world_.now());
    });
  }

  World& world_;
  QueueModel& store_;
  Downstream& downstream_;
  const ItemTypeSettings& settings_;
  std::string name_;
  std::unique_ptr<DispatchBoard> board_;
  bool stopping_ = false;
};

class Board : public testing::Test {
 protected:
  void SetUp() override {
    settings.jitter_window = Millis{0};
    settings.batch_size = 50;
  }

  void enqueue(int count, Instant due) {
    std::vector<store::NewItem> items;
    for (int i = 0; i < count; ++i) {
      items.push_back({.type = kType,
                       .id = ItemId::trusted("i" + std::to_string(enqueued++)),
                       .due = due,
                       .slot = std::nullopt,
                       .context = "{}"});
    }
    for (const auto& each : store.enqueue(items, std::nullopt)) ASSERT_TRUE(each);
  }
  std::uint64_t count(store::ItemState state) {
    return store.summary(kType)->counts[static_cast<std::size_t>(state)];
  }
  void expect_all_dispatched() {
    EXPECT_EQ(count(store::ItemState::dispatched), static_cast<std::uint64_t>(enqueued));
    EXPECT_EQ(downstream.times().size(), static_cast<std::size_t>(enqueued));
  }

  World world{7};
  QueueModel store{world.clock};
  Downstream downstream;
  ItemTypeSettings settings;
  Node a{world, store, downstream, settings, "a"};
  Node b{world, store, downstream, settings, "b"};
  int enqueued = 0;
};

TEST_F(Board, hands_over_everything_once_and_in_time) {
  enqueue(300, kStart + Seconds{5});
  a.wake();
  world.run_until(kStart + Seconds{20});
  expect_all_dispatched();
  for (const auto& [id, times] : downstream.times()) EXPECT_EQ(times, 1) << id;
  EXPECT_GE(downstream.arrived.front().first, kStart + Seconds{5});
  EXPECT_LE(downstream.arrived.front().first, kStart + Seconds{5} + Millis{50});
}

TEST_F(Board, keeps_the_pace_and_uses_it) {
  settings.max_per_second = 50;
  enqueue(1'000, kStart);
  a.wake();
  world.run_until(kStart + Seconds{15});
  EXPECT_LE(downstream.most_in_a_second(), 50);
  const double seconds = std::chrono::duration<double>(downstream.arrived.back().first -
                                                       downstream.arrived.front().first)
                             .count();
  EXPECT_GE(static_cast<double>(downstream.arrived.size()) / seconds, 49.0);
}

TEST_F(Board, spreads_by_jitter) {
  settings.jitter_window = Millis{4'000};
  enqueue(500, kStart + Seconds{2});
  a.wake();
  world.run_until(kStart + Seconds{10});
  expect_all_dispatched();
  EXPECT_GE(downstream.arrived.back().first - downstream.arrived.front().first, Millis{3'500});
  EXPECT_LE(downstream.arrived.back().first, kStart + Seconds{6} + Millis{100});
}

TEST_F(Board, starts_early_what_can_wait_by_itself) {
  settings.sink.type = core::SinkType::temporal;
  settings.pre_start_buffer = std::chrono::minutes{1};
  settings.dispatch_interval = std::chrono::hours{1};  // it wakes for them all the same
  settings.jitter_window = Millis{4'000};
  std::vector<Instant> begins;
  downstream.answer = [&](const sink::Handover& item) {
    begins.push_back(world.now() + item.start_delay);
    return sink::SinkAnswer{};
  };
  const Instant due = kStart + std::chrono::minutes{10};
  enqueue(100, due);
  a.wake();
  world.run_until(due - Seconds{55});
  expect_all_dispatched();
  EXPECT_GE(downstream.arrived.front().first, due - std::chrono::minutes{1});
  const auto [first, last] = std::ranges::minmax(begins);
  EXPECT_GE(first, due);
  EXPECT_GE(last - first, Millis{3'000});
  EXPECT_LE(last, due + Millis{4'001});
}

TEST_F(Board, sends_nothing_early_to_who_cannot_wait) {
  for (const core::SinkType type : {core::SinkType::http, core::SinkType::kafka}) {
    settings.sink.type = type;
    settings.pre_start_buffer = std::chrono::minutes{60};
    downstream.arrived.clear();
    const Instant due = world.now() + Seconds{30};
    enqueue(10, due);
    a.wake();
    world.run_until(due + Seconds{5});
    ASSERT_EQ(downstream.arrived.size(), 10U);
    EXPECT_GE(downstream.arrived.front().first, due);
  }
}

TEST_F(Board, gives_back_what_it_holds_when_switched_off) {
  settings.max_per_second = 10;
  enqueue(100, kStart);
  a.wake();
  world.run_until(kStart + Seconds{5});
  const std::size_t before = downstream.arrived.size();
  EXPECT_GT(before, 10U);
  settings.enabled = false;
  a.wake();
  world.run_until(kStart + Seconds{9});
  EXPECT_EQ(downstream.arrived.size(), before);
  EXPECT_EQ(count(store::ItemState::claimed), 0U);
  EXPECT_EQ(count(store::ItemState::ready), 100 - before);
  settings.enabled = true;
  world.run_until(kStart + Seconds{30});
  expect_all_dispatched();
}

TEST_F(Board, tries_again_until_dead) {
  downstream.answer = [](const sink::Handover&) {
    return sink::SinkAnswer{.outcome = SinkOutcome::failed, .detail = "HTTP 500"};
  };
  settings.max_dispatch_retries = 3;
  settings.retry_backoff = Millis{1'000};
  enqueue(20, kStart);
  a.wake();
  world.run_until(kStart + Seconds{30});
  EXPECT_EQ(count(store::ItemState::dead), 20U);
  for (const auto& [id, times] : downstream.times()) EXPECT_EQ(times, 3) << id;
  EXPECT_EQ((*store.find(kType, ItemId::trusted("i0")))->last_error, "HTTP 500");
}

TEST_F(Board, waits_when_the_sink_asks_for_it_and_charges_nothing) {
  Instant open = kStart + Seconds{8};
  downstream.answer = [&](const sink::Handover&) {
    if (world.now() >= open) return sink::SinkAnswer{};
    return sink::SinkAnswer{.outcome = SinkOutcome::slow_down,
                            .detail = "HTTP 429",
                            .pause = std::chrono::ceil<Millis>(open - world.now())};
  };
  settings.sink = {.type = core::SinkType::http, .concurrency = 4};
  enqueue(100, kStart);
  a.wake();
  world.run_until(kStart + Seconds{7});
  EXPECT_LE(downstream.arrived.size(), 4U) << "only what was under way when the answer came";
  world.run_until(kStart + Seconds{20});
  expect_all_dispatched();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ((*store.find(kType, ItemId::trusted("i" + std::to_string(i))))->retry_count, 0);
  }
}

TEST_F(Board, gives_back_in_a_long_pause_and_believes_no_endless_one) {
  settings.max_pause = Seconds{30};
  downstream.answer = [&](const sink::Handover&) {
    if (world.now() > kStart + Seconds{25}) return sink::SinkAnswer{};
    return sink::SinkAnswer{
        .outcome = SinkOutcome::slow_down, .detail = {}, .pause = std::chrono::hours{9}};
  };
  settings.sink = {.type = core::SinkType::http, .concurrency = 1};
  enqueue(10, kStart);
  a.wake();
  world.run_until(kStart + Seconds{3});
  EXPECT_EQ(count(store::ItemState::claimed), 0U);
  EXPECT_EQ(count(store::ItemState::ready), 10U);
  world.run_until(kStart + Seconds{60});
  expect_all_dispatched();
}

TEST_F(Board, is_quiet_after_a_stop_and_leaves_nothing_claimed) {
  settings.max_per_second = 10;
  enqueue(100, kStart);
  a.wake();
  world.run_until(kStart + Seconds{4});
  a.stop();
  world.run_until(kStart + Seconds{5});
  EXPECT_TRUE(a.board()->is_quiet());
  EXPECT_EQ(count(store::ItemState::claimed), 0U);
}

TEST_F(Board, gives_no_fresh_second_of_pace_to_who_takes_over_at_once) {
  settings.max_per_second = 50;
  settings.burst = 50;
  enqueue(1'000, kStart);
  a.wake();
  world.run_until(kStart + Seconds{5});
  const std::size_t before = downstream.arrived.size();
  a.stop();
  ASSERT_TRUE(store.release(kType, "a"));
  b.wake();
  world.run_until(kStart + Seconds{12});
  EXPECT_GT(downstream.arrived.size(), before + 100);
  EXPECT_LE(downstream.most_in_a_second(), 50);
}

// A store that is away for longer than the term, and nobody else: nothing is sent twice.
TEST_F(Board, keeps_what_it_knows_over_a_gap_that_nobody_used) {
  const Instant now = kStart;
  DispatchBoard board(kType, 1);
  const store::Lease lease{.token = 7, .fresh = true};
  (void)board.turn(settings, now, false);
  board.on_lease(std::optional(lease), settings, now, now);
  EXPECT_GT(board.turn(settings, now, false).claim, 0U);
  store::Claim claim{.batch_id = "b", .items = {}, .next_due = std::nullopt};
  for (const char* id : {"sent", "held"}) {
    claim.items.push_back({.id = ItemId::trusted(id), .scheduled = now, .attempts = 1});
  }
  board.on_claim(std::move(claim), 50, settings, now);
  Instant again{};
  auto sending = board.take(settings, now, again);
  ASSERT_TRUE(sending);
  board.on_answer(sending->handover.id, "b", 0, {}, settings, now);
  const Instant late = now + kLeaseTerm;
  board.on_news();  // there is something to claim, for who holds the lease
  const DispatchBoard::Orders orders = board.turn(settings, late, false);
  EXPECT_TRUE(orders.ask_lease);
  EXPECT_EQ(orders.claim, 0U);
  ASSERT_EQ(orders.settle.size(), 1U);  // the token guards it
  EXPECT_EQ(orders.settle[0].id.str(), "sent");
  EXPECT_FALSE(board.take(settings, late, again));
  board.on_settled(false, std::vector(orders.settle), late);
  board.on_lease(std::optional(store::Lease{.token = 7}), settings, late, late);
  sending = board.take(settings, late, again);
  ASSERT_TRUE(sending);
  EXPECT_EQ(sending->handover.id.str(), "held");
  EXPECT_EQ(board.turn(settings, late + kStoreRetry, false).settle.size(), 1U);
  // Another came: all of it is his.
  board.on_lease(std::optional(store::Lease{.token = 9, .fresh = true}), settings, late, late);
  EXPECT_EQ(board.held(), 0U);
}

TEST_F(Board, gives_another_turn_to_what_was_late) {
  settings.max_per_second = 1;
  const Instant now = kStart;
  DispatchBoard board(kType, 1);
  (void)board.turn(settings, now, false);
  board.on_lease(std::optional(store::Lease{.token = 1, .fresh = true}), settings, now, now);
  (void)board.turn(settings, now, false);
  store::Claim claim{.batch_id = "b", .items = {}, .next_due = std::nullopt};
  claim.items.push_back(
      {.id = ItemId::trusted("x"), .scheduled = now, .attempts = 1, .context = "{}"});
  board.on_claim(std::move(claim), 50, settings, now);
  Instant at = now + Seconds{2};
  Instant again = at + Seconds{5};
  auto sending = board.take(settings, at, again);
  ASSERT_TRUE(sending);
  EXPECT_EQ(sending->taken, at);
  board.on_late(std::move(*sending), at + Millis{20});
  EXPECT_EQ(board.held(), 1U);
  at += Millis{30};
  sending = board.take(settings, at, again);
  ASSERT_TRUE(sending) << "the turn that was missed is not counted";
  EXPECT_EQ(sending->handover.context, "{}");
  EXPECT_EQ(sending->handover.attempt, 1);
  EXPECT_EQ(sending->batch_id, "b");
  EXPECT_FALSE(board.take(settings, at, again));
}

TEST_F(Board, hands_a_pause_on_and_takes_it_over) {
  const Instant now = kStart;
  DispatchBoard board(kType, 1);
  (void)board.turn(settings, now, false);
  board.on_lease(
      std::optional(store::Lease{.token = 1, .fresh = true, .paused_until = now + Seconds{30}}),
      settings, now, now);
  EXPECT_EQ(board.paused_until(now), now + Seconds{30});
  EXPECT_EQ(board.turn(settings, now, false).claim, 0U);
  const Instant later = now + Seconds{31};
  EXPECT_EQ(board.paused_until(later), Instant{});
  (void)board.turn(settings, later, false);
  board.on_lease(std::optional(store::Lease{.token = 1}), settings, later, later);
  EXPECT_FALSE(board.turn(settings, later, false).ask_lease);
  board.on_answer(ItemId::trusted("x"), "b", 0,
                  {.outcome = SinkOutcome::slow_down, .detail = "", .pause = Seconds{10}}, settings,
                  later);
  EXPECT_TRUE(board.turn(settings, later, false).ask_lease) << "the next holder should know";
  EXPECT_EQ(board.paused_until(later), later + Seconds{10});
}

TEST_F(Board, sends_by_the_wall_clock_and_paces_by_its_own) {
  const Instant now = kStart;
  DispatchBoard board(kType, 1);
  board.set_wall_offset(std::chrono::hours{1});
  (void)board.turn(settings, now, false);
  board.on_lease(std::optional(store::Lease{.token = 1, .fresh = true}), settings, now, now);
  (void)board.turn(settings, now, false);
  store::Claim claim{.batch_id = "b", .items = {}, .next_due = std::nullopt};
  claim.items.push_back({.id = ItemId::trusted("x"),
                         .scheduled = now + std::chrono::hours{1} + Seconds{1},
                         .attempts = 1});
  board.on_claim(std::move(claim), 50, settings, now);
  Instant again = now + Seconds{5};
  EXPECT_FALSE(board.take(settings, now, again));
  EXPECT_EQ(again, now + Seconds{1});
  ASSERT_TRUE(board.take(settings, again, again));
  board.on_answer(ItemId::trusted("x"), "b", 0, {.outcome = SinkOutcome::failed, .detail = ""},
                  settings, again);
  const auto orders = board.turn(settings, again + kSettleDelay, false);
  ASSERT_EQ(orders.settle.size(), 1U);
  EXPECT_GE(orders.settle[0].not_before, again + std::chrono::hours{1} + settings.retry_backoff);
}

TEST_F(Board, never_sends_what_is_not_enabled_or_not_leased) {
  settings.enabled = false;
  enqueue(10, kStart);
  a.wake();
  b.wake();
  world.run_until(kStart + Seconds{20});
  EXPECT_TRUE(downstream.arrived.empty());
}

// Two nodes, crashes, lost calls: nothing is lost, repeats come only with crashes, and the pace
// holds in every sliding second across all takeovers.
TEST(BoardWorld, survives_crashes_of_two_nodes) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed);
    QueueModel store(world.clock);
    Downstream downstream;
    downstream.answer = [&](const sink::Handover&) {
      return world.rng.below(15) == 0
                 ? sink::SinkAnswer{.outcome = SinkOutcome::failed, .detail = "x"}
                 : sink::SinkAnswer{};
    };
    ItemTypeSettings settings;
    settings.jitter_window = Millis{world.rng.between(0, 500)};
    settings.batch_size = world.rng.between(5, 60);
    settings.max_dispatch_retries = 50;
    settings.retry_backoff = Millis{200};
    settings.max_per_second = world.rng.between(20, 80);
    Node a(world, store, downstream, settings, "a");
    Node b(world, store, downstream, settings, "b");
    std::vector<store::NewItem> items;
    for (int i = 0; i < 400; ++i) {
      items.push_back({.type = kType,
                       .id = ItemId::trusted("i" + std::to_string(i)),
                       .due = kStart + Seconds{world.rng.between(0, 5)},
                       .slot = std::nullopt,
                       .context = "{}"});
    }
    store.enqueue(items, std::nullopt);
    a.wake();
    b.wake();
    int crashes = 0;
    for (int second = 4; second < 30; second += static_cast<int>(world.rng.between(3, 8))) {
      Node& node = world.rng.below(2) == 0 ? a : b;
      world.at(kStart + Seconds{second}, [&] { node.crash(); });
      world.at(kStart + Seconds{second} + world.some(Millis{100}, Millis{2'000}),
               [&] { node.restart(); });
      ++crashes;
    }
    world.run_until(kStart + Seconds{120});
    EXPECT_EQ(store.summary(kType)->counts[static_cast<std::size_t>(store::ItemState::dispatched)],
              400U);
    EXPECT_LE(downstream.most_in_a_second(), *settings.max_per_second);
    // Each item arrives once for each failed attempt and the one that worked; the rest are repeats.
    std::size_t attempts = 0;
    for (int i = 0; i < 400; ++i) {
      attempts += static_cast<std::size_t>(
          (*store.find(kType, ItemId::trusted("i" + std::to_string(i))))->attempts);
    }
    EXPECT_LE(downstream.arrived.size(), attempts) << "sent without a claim";
    EXPECT_GT(crashes, 0);
  }
}

}  // namespace
}  // namespace penstock::service
