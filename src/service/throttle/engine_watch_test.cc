#include "service/throttle/engine_watch.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "service/testing/engine.h"

namespace penstock::service {
namespace {

const Error kRefused{.kind = ErrorKind::unavailable, .what = "connection refused"};

class EngineWatchTest : public testing::Test {
 protected:
  void give_up() {
    for (int i = 0; i < EngineWatch::kFailuresMax; ++i) watch_.failed(kRefused);
  }
  static void await(const auto& condition) {
    while (!condition()) std::this_thread::yield();
  }

  SimulatedClock clock_{from_epoch_millis(0)};
  Log log_{clock_, 2, LogLevel::off, LogFormat::json};
  runtime::Metrics metrics_;
  FakeNodes nodes_;
  EngineWatch watch_{
      {.engine = "redis", .node = "a", .beat_interval = Millis{5}}, nodes_, log_, metrics_};
};

TEST_F(EngineWatchTest, gives_up_only_after_failures_in_a_row) {
  for (int i = 0; i < 10; ++i) {
    for (int j = 1; j < EngineWatch::kFailuresMax; ++j) watch_.failed(kRefused);
    watch_.succeeded();
  }
  EXPECT_TRUE(watch_.usable());
  give_up();
  EXPECT_FALSE(watch_.usable());
  EXPECT_EQ(watch_.away().kind, ErrorKind::unavailable);
  EXPECT_EQ(watch_.away().what, "redis is away: connection refused");
}

TEST_F(EngineWatchTest, comes_back_after_things_were_put_in_order) {
  std::promise<void> asked;
  std::promise<void> go_on;
  watch_.start([&, first = true]() mutable -> Result<void> {
    if (std::exchange(first, false)) {
      asked.set_value();
      go_on.get_future().wait();
      return std::unexpected(kRefused);  // still away
    }
    return {};
  });
  give_up();
  asked.get_future().wait();
  EXPECT_FALSE(watch_.usable());
  go_on.set_value();
  await([&] { return watch_.usable(); });
}

TEST_F(EngineWatchTest, stays_away_while_beats_fail) {
  nodes_.away = true;
  watch_.start([] { return Result<void>{}; });
  await([&] { return !watch_.usable(); });  // beats count as failures too
  const int before = nodes_.beats;
  await([&] { return nodes_.beats > before + 2; });
  EXPECT_FALSE(watch_.usable());
  nodes_.away = false;
  await([&] { return watch_.usable(); });
}

TEST_F(EngineWatchTest, remembers_the_nodes_of_before_the_outage) {
  nodes_.alive = 3;
  watch_.start([] { return Result<void>{}; });
  await([&] { return watch_.nodes() == 3; });
  nodes_.away = true;
  nodes_.alive = 1;
  await([&] { return !watch_.usable(); });
  EXPECT_EQ(watch_.nodes(), 3U);
}

TEST_F(EngineWatchTest, says_goodbye_when_it_stops) {
  watch_.start([] { return Result<void>{}; });
  await([&] { return nodes_.beats > 0; });
  watch_.stop();
  watch_.stop();
  EXPECT_EQ(nodes_.left, 1);
}

}  // namespace
}  // namespace penstock::service
