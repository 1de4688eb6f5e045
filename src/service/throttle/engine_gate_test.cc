#include "service/throttle/engine_gate.h"

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <thread>
#include <vector>

#include "service/testing/engine.h"

namespace penstock::service {
namespace {

using Answers = std::vector<Result<store::LimitAnswer>>;

class EngineGateTest : public testing::Test {
 protected:
  void SetUp() override { make({.deadline = Seconds{20}, .workers = 1}); }
  void TearDown() override { engine_.open(); }

  void make(const EngineGateOptions& options) {
    gate_.reset();
    metrics_ = std::make_unique<runtime::Metrics>();
    watch_ = std::make_unique<EngineWatch>(EngineWatchOptions{.engine = "redis", .node = "a"},
                                           nodes_, log_, *metrics_);
    gate_ = std::make_unique<EngineGate>(options, engine_, *watch_, *metrics_);
  }

  // Asks for one token of `key` of ten.
  std::future<Answers> ask(std::string key, std::size_t requests = 1) {
    const store::LimitCheck check{.key = key, .limit = {.capacity = 10, .refill = {1, 1}}};
    const std::vector<store::LimitRequest> all(requests, {.checks = {&check, 1}, .statuses = {}});
    auto promise = std::make_shared<std::promise<Answers>>();
    gate_->submit(std::make_shared<GateJob>(
        all, nullptr,
        [promise](std::span<const store::LimitRequest>, std::span<Result<store::LimitAnswer>> a) {
          promise->set_value({a.begin(), a.end()});
        }));
    return promise->get_future();
  }

  SimulatedClock clock_{from_epoch_millis(0)};
  Log log_{clock_, 2, LogLevel::off, LogFormat::json};
  FakeNodes nodes_;
  SlowLimits engine_;
  std::unique_ptr<runtime::Metrics> metrics_;
  std::unique_ptr<EngineWatch> watch_;
  std::unique_ptr<EngineGate> gate_;
};

TEST_F(EngineGateTest, sends_what_waits_in_one_batch) {
  engine_.shut();
  std::future<Answers> first = ask("a");
  engine_.await_waiting(1);
  std::vector<std::future<Answers>> others;
  for (int i = 0; i < 12; ++i) others.push_back(ask("b"));
  engine_.open();
  EXPECT_TRUE(first.get()[0]->admitted);
  int admitted = 0;
  for (auto& other : others) admitted += other.get()[0]->admitted ? 1 : 0;
  EXPECT_EQ(admitted, 10);
  EXPECT_EQ(engine_.inner.applied, 2);
}

TEST_F(EngineGateTest, answers_within_the_deadline_though_the_engine_hangs) {
  make({.deadline = Millis{20}, .workers = 1});
  engine_.shut();
  std::future<Answers> stuck = ask("a");
  engine_.await_waiting(1);
  std::future<Answers> behind = ask("b", 3);
  EXPECT_EQ(stuck.get()[0].error().kind, ErrorKind::timeout);
  const Answers late = behind.get();
  ASSERT_EQ(late.size(), 3U);
  EXPECT_EQ(late[2].error().kind, ErrorKind::timeout);
  engine_.open();
  gate_->stop();
  // Who was answered while waiting in the queue is not charged any more.
  EXPECT_FALSE(*engine_.inner.find("b", std::nullopt));
}

TEST_F(EngineGateTest, spares_an_engine_that_failed_several_times) {
  engine_.inner.away = true;
  for (int i = 0; i < EngineWatch::kFailuresMax; ++i) {
    EXPECT_EQ(ask("a").get()[0].error().kind, ErrorKind::unavailable);
  }
  const int before = engine_.inner.applied;
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(ask("a").get()[0]);
  EXPECT_EQ(engine_.inner.applied, before);
}

TEST_F(EngineGateTest, refuses_at_once_when_too_many_wait) {
  make({.deadline = Seconds{20}, .workers = 1, .queue_max = 4});
  engine_.shut();
  std::future<Answers> first = ask("a");
  engine_.await_waiting(1);
  std::vector<std::future<Answers>> waiting;
  for (int i = 0; i < 4; ++i) waiting.push_back(ask("b"));
  EXPECT_EQ(ask("c").get()[0].error().kind, ErrorKind::overloaded);
  engine_.open();
  for (auto& each : waiting) EXPECT_TRUE(each.get()[0]->admitted);
}

TEST_F(EngineGateTest, answers_everything_once_from_many_threads) {
  std::atomic<int> answered = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 500; ++i) {
          answered += static_cast<int>(ask("k" + std::to_string(t), 2).get().size());
        }
      });
    }
  }
  EXPECT_EQ(answered, 4 * 500 * 2);
}

}  // namespace
}  // namespace penstock::service
