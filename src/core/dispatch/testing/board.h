// For tests of the board: nodes that share a store and a downstream, in a world whose time is told.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/test_instants.h"
#include "core/dispatch/board.h"
#include "store/queue/conformance/queue_model.h"

namespace penstock::core {

inline const ItemType kBoardType = ItemType::trusted("T");

// Things that happen at their time, in order.
class BoardWorld {
 public:
  explicit BoardWorld(std::uint64_t seed) : rng(seed) {}

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
class BoardDownstream {
 public:
  std::function<SinkAnswer(const Handover&)> answer = [](const Handover&) { return SinkAnswer{}; };
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
class BoardNode {
 public:
  BoardNode(BoardWorld& world, store::conformance::QueueModel& store, BoardDownstream& downstream,
            const ItemTypeSettings& settings, std::string name)
      : world_(world),
        store_(store),
        downstream_(downstream),
        settings_(settings),
        name_(std::move(name)),
        board_(std::make_unique<DispatchBoard>(kBoardType, world.rng())) {}

  SinkTraits sink;

  void wake() {
    if (!board_) return;
    board_->set_sink(sink);
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
    board_ = std::make_unique<DispatchBoard>(kBoardType, world_.rng());
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
          {.type = kBoardType, .node = name_, .term = kLeaseTerm, .paused_until = paused},
          std::nullopt);
      if (board_.get() != board) return;
      call(world_.some(Millis{0}, Millis{20}), [this, asked, lease](DispatchBoard& b) {
        b.on_lease(lease, settings_, asked, world_.now());
      });
    });
  }

  void claim(std::size_t limit) {
    const store::ClaimRequest request{.type = kBoardType,
                                      .token = board_->token(),
                                      .limit = limit,
                                      .early = claim_ahead(settings_, sink),
                                      .stale = settings_.stale_claim_threshold,
                                      .retries_max = settings_.max_dispatch_retries};
    world_.after(world_.some(Millis{0}, Millis{30}), [this, request, board = board_.get()] {
      auto claimed = std::make_shared<Result<Claim>>(store_.claim(request, std::nullopt));
      if (board_.get() != board) return;
      call(world_.some(Millis{0}, Millis{30}), [this, claimed, request](DispatchBoard& b) {
        b.on_claim(std::move(*claimed), request.limit, settings_, world_.now());
      });
    });
  }

  void settle(std::vector<Settlement> items) {
    const FencingToken token = board_->token();
    world_.after(world_.some(Millis{0}, Millis{30}), [this, items, token, board = board_.get()] {
      const bool lost = world_.rng.below(20) == 0;  // the request, before it was carried out
      if (!lost) {
        const auto moved = store_.settle({.type = kBoardType,
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
    const SinkAnswer answer = downstream_.answer(sending.handover);
    call(world_.some(Millis{1}, Millis{40}), [this, sending, answer](DispatchBoard& b) {
      b.on_answer(sending.handover.id, sending.batch_id, sending.handover.retry_count,
                  SinkAnswer(answer), settings_, world_.now());
    });
  }

  BoardWorld& world_;
  store::conformance::QueueModel& store_;
  BoardDownstream& downstream_;
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
      items.push_back({.type = kBoardType,
                       .id = ItemId::trusted("i" + std::to_string(enqueued++)),
                       .due = due,
                       .slot = std::nullopt,
                       .context = "{}"});
    }
    for (const auto& each : store.enqueue(items, std::nullopt)) ASSERT_TRUE(each);
  }
  std::uint64_t count(ItemState state) {
    return store.summary(kBoardType)->counts[static_cast<std::size_t>(state)];
  }
  void expect_all_dispatched() {
    EXPECT_EQ(count(ItemState::dispatched), static_cast<std::uint64_t>(enqueued));
    EXPECT_EQ(downstream.times().size(), static_cast<std::size_t>(enqueued));
  }

  BoardWorld world{7};
  store::conformance::QueueModel store{world.clock};
  BoardDownstream downstream;
  ItemTypeSettings settings;
  BoardNode a{world, store, downstream, settings, "a"};
  BoardNode b{world, store, downstream, settings, "b"};
  int enqueued = 0;
};

}  // namespace penstock::core
