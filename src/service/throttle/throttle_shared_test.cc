// Throttle on a shared engine: the same decisions, and what the policies say while it is away.
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <vector>

#include "service/testing/engine.h"
#include "service/throttle/throttle_service.h"

namespace penstock::service {
namespace {

using core::OnStoreFailure;

struct Told {
  Result<void> decided;
  bool allowed = false;
  bool unchecked = false;
  std::string key;
  std::int64_t limit = 0;
  std::int64_t remaining = 0;
};

class SharedThrottle : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto& [key, rule] :
         {std::pair{"deny:*", OnStoreFailure::deny}, std::pair{"allow:*", OnStoreFailure::allow},
          std::pair{"local:*", OnStoreFailure::local}}) {
      core::PolicyDraft draft = core::default_policy_draft();
      draft.key = key;
      draft.limit.capacity = 9;
      draft.on_store_failure = rule;
      ASSERT_TRUE(policies_.create(draft, std::nullopt));
    }
    auto made = ThrottleService::start({}, engine_.inner, policies_, log_, metrics_,
                                       SharedLimits{gate_, watch_, local_});
    ASSERT_TRUE(made);
    service_ = std::move(*made);
  }

  void TearDown() override {
    watch_.stop();
    gate_.stop();
  }

  Told ask(std::vector<std::string> keys, std::int64_t cost = 1) {
    core::ThrottleCall call{.cost = cost};
    for (const std::string& key : keys) call.add(key);
    std::promise<Told> told;
    service_->ask(call, [&](Result<void> decided, const core::ThrottleDecision& decision) {
      Told answer{.decided = std::move(decided)};
      if (answer.decided) {
        answer.allowed = decision.allowed;
        answer.unchecked = decision.unchecked;
        answer.key = decision.key();
        answer.limit = decision.status().limit;
        answer.remaining = decision.status().remaining;
      }
      told.set_value(std::move(answer));
    });
    return told.get_future().get();
  }

  void break_engine(std::size_t nodes) {
    nodes_.alive = nodes;
    watch_.start([this] { return service_->hand_back(); });
    while (watch_.nodes() != nodes) std::this_thread::yield();
    nodes_.away = true;
    engine_.inner.away = true;
    while (watch_.usable()) std::this_thread::yield();
  }
  void mend_engine() {
    engine_.inner.away = false;
    nodes_.away = false;
    while (!watch_.usable()) std::this_thread::yield();
  }

  SimulatedClock clock_{from_epoch_millis(0)};
  Log log_{clock_, 2, LogLevel::off, LogFormat::json};
  runtime::Metrics metrics_;
  FakeNodes nodes_;
  SlowLimits engine_;
  FakeLimits local_;
  FakePolicies policies_;
  EngineWatch watch_{
      {.engine = "redis", .node = "a", .beat_interval = Millis{2}}, nodes_, log_, metrics_};
  EngineGate gate_{{.deadline = Seconds{20}}, engine_, watch_, metrics_};
  std::unique_ptr<ThrottleService> service_;
};

TEST_F(SharedThrottle, decides_by_the_engine) {
  EXPECT_EQ(ask({"deny:x"}, 4).remaining, 5);
  const Told denied = ask({"allow:y", "deny:x"}, 6);
  EXPECT_FALSE(denied.allowed);
  EXPECT_EQ(denied.key, "deny:x");
  EXPECT_EQ(service_->totals().allowed, 1U);
  EXPECT_EQ(service_->totals().blocked, 1U);
}

TEST_F(SharedThrottle, decides_batches_in_order) {
  const std::vector<ThrottleEntry> entries(11, {.key = "deny:x"});
  std::promise<std::vector<bool>> told;
  service_->ask_batch(entries, [&](ThrottleService::KeyDecisions decisions) {
    std::vector<bool> allowed;
    for (const Result<core::KeyDecision>& each : decisions) allowed.push_back(each->allowed);
    told.set_value(std::move(allowed));
  });
  const std::vector<bool> allowed = told.get_future().get();
  ASSERT_EQ(allowed.size(), 11U);
  for (std::size_t i = 0; i < 11; ++i) EXPECT_EQ(allowed[i], i < 9);
}

// A call of a Redis client for `cost` tokens of ten; nothing when there was an error.
class SharedClientLimits : public SharedThrottle {
 protected:
  Result<store::LimitAnswer> ask_own(std::int64_t cost, core::LimitStatus& status) {
    const store::LimitCheck check{.key = "\x01k", .limit = {.capacity = 10, .refill = {1, 1}}};
    const store::LimitRequest request{
        .checks = {&check, 1}, .cost = cost, .statuses = {&status, 1}};
    Result<store::LimitAnswer> answer;
    service_->ask_client_limits({&request, 1}, {&answer, 1});
    return answer;
  }
};

TEST_F(SharedClientLimits, are_asked_at_the_engine_and_counted) {
  core::LimitStatus status;
  EXPECT_TRUE(ask_own(4, status)->admitted);
  EXPECT_EQ(status.remaining, 6);
  EXPECT_FALSE(ask_own(7, status)->admitted);
  EXPECT_EQ((*engine_.find("\x01k", std::nullopt))->used, 4);
  EXPECT_EQ(service_->totals().allowed, 1U);
  EXPECT_EQ(service_->totals().blocked, 1U);
  EXPECT_EQ(service_->top_denied(10), (std::vector<DeniedKey>{{"\x01k", 1, 0}}));
  EXPECT_TRUE(*service_->forget_client_limit("\x01k"));
}

TEST_F(SharedClientLimits, are_errors_while_the_engine_is_away) {
  break_engine(1);
  core::LimitStatus status;
  EXPECT_EQ(ask_own(1, status).error().kind, ErrorKind::unavailable);
  EXPECT_EQ(service_->totals().allowed + service_->totals().blocked, 0U);
  EXPECT_EQ(service_->client_totals().errors, 1U);
}

TEST_F(SharedThrottle, does_as_each_policy_says_while_the_engine_is_away) {
  break_engine(3);
  EXPECT_EQ(ask({"deny:x"}).decided.error().kind, ErrorKind::unavailable);
  const Told open = ask({"allow:x"}, 100);
  EXPECT_TRUE(open.allowed);
  EXPECT_TRUE(open.unchecked);
  // A third of nine.
  for (int i = 2; i >= 0; --i) {
    const Told local = ask({"local:x"});
    EXPECT_TRUE(local.allowed);
    EXPECT_EQ(local.limit, 3);
    EXPECT_EQ(local.remaining, i);
  }
  EXPECT_FALSE(ask({"local:x"}).allowed);
}

TEST_F(SharedThrottle, decides_several_keys_by_the_strictest_rule) {
  break_engine(3);
  EXPECT_FALSE(ask({"allow:x", "local:x", "deny:x"}).decided);
  const Told mixed = ask({"allow:x", "local:x"}, 3);
  EXPECT_TRUE(mixed.allowed);
  EXPECT_EQ(mixed.key, "local:x");
  EXPECT_FALSE(ask({"allow:x", "local:x"}).allowed);
  EXPECT_EQ((*local_.find("local:x", std::nullopt))->used, 3);
}

TEST_F(SharedThrottle, charges_the_engine_for_what_it_let_through_alone) {
  EXPECT_EQ(ask({"local:full"}, 8).remaining, 1);
  break_engine(3);
  EXPECT_TRUE(ask({"local:x"}, 2).allowed);
  EXPECT_TRUE(ask({"local:full"}, 3).allowed);
  mend_engine();
  EXPECT_EQ(ask({"local:x"}, 0).remaining, 7);
  EXPECT_EQ(ask({"local:full"}, 0).remaining, 0);  // as far as it fits
  EXPECT_TRUE(local_.list({}, 10, std::nullopt)->empty());
}

TEST_F(SharedThrottle, counts_local_decisions_and_failures) {
  break_engine(1);
  ask({"local:x"});
  ask({"local:x"}, 9);
  ask({"deny:x"});
  EXPECT_EQ(service_->totals().allowed, 1U);
  EXPECT_EQ(service_->totals().blocked, 1U);
}

}  // namespace
}  // namespace penstock::service
