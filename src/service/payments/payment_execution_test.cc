// What is behind the sink of payments: statuses, notices, and what a crash or a failing store
// leaves.
#include "service/payments/payment_execution.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/clocks.h"
#include "store/payments/conformance/payment_model.h"
#include "store/queue/conformance/item_type_model.h"
#include "store/queue/conformance/queue_model.h"

namespace penstock::service {
namespace {

using core::PaymentStatus;

// Answers what it is told to.
class ScriptedSink final : public sink::Sink {
 public:
  explicit ScriptedSink(sink::SinkAnswer answer) : answer_(std::move(answer)) {}
  void send(sink::Handover&& /*item*/, Done done) override { done(sink::SinkAnswer(answer_)); }

 private:
  sink::SinkAnswer answer_;
};

class Notifier final : public PaymentNotifier {
 public:
  Result<void> notify(std::span<const PaymentNotice> notices) override {
    const std::lock_guard lock(mutex_);
    if (failure) return std::unexpected(*failure);
    for (const PaymentNotice& notice : notices) told_.push_back(notice.id.str());
    return {};
  }
  std::vector<std::string> told() const {
    const std::lock_guard lock(mutex_);
    return told_;
  }

  std::optional<Error> failure;  // set before anything runs

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> told_;  // guarded by mutex_
};

class PaymentSinkTest : public testing::Test {
 protected:
  void take(const std::string& id) {
    const store::NewPayment payment{
        .id = PaymentId::trusted(id), .reason = {}, .body = "{}", .context = "{}", .digest = {}};
    ASSERT_TRUE(payments_.take({&payment, 1}, std::nullopt)[0]);
  }
  sink::SinkAnswer send(sink::Sink& sink, const std::string& id) {
    std::promise<sink::SinkAnswer> promise;
    auto answer = promise.get_future();
    sink.send({.type = store::payment_item_type(), .id = ItemId::trusted(id), .context = "{}"},
              [&](sink::SinkAnswer given) { promise.set_value(std::move(given)); });
    return answer.get();
  }
  sink::SinkAnswer send(const std::string& id,
                        sink::SinkOutcome outcome = sink::SinkOutcome::done) {
    PaymentSink sink(
        std::make_unique<ScriptedSink>(sink::SinkAnswer{.outcome = outcome, .detail = "HTTP 200"}),
        execution_);
    return send(sink, id);
  }
  store::PaymentRecord record(const std::string& id) {
    return **payments_.find(PaymentId::trusted(id));
  }

  runtime::SystemClock clock_;
  Log log_{clock_, STDERR_FILENO, LogLevel::off, LogFormat::text};
  runtime::Metrics metrics_;
  store::conformance::QueueModel queue_{clock_};
  store::conformance::PaymentModel payments_{queue_, clock_};
  Notifier notifier_;
  PaymentExecution execution_{payments_, notifier_, log_, metrics_};
};

TEST_F(PaymentSinkTest, an_accepted_payment_is_processing_before_the_dispatcher_hears) {
  take("p");
  const sink::SinkAnswer answer = send("p");
  EXPECT_EQ(answer.outcome, sink::SinkOutcome::done);
  EXPECT_EQ(answer.detail, "HTTP 200");
  const store::PaymentRecord kept = record("p");
  EXPECT_EQ(kept.status, PaymentStatus::processing);
  ASSERT_EQ(kept.history.size(), 3U);
  EXPECT_EQ(kept.history[1].to, PaymentStatus::accepted);
  EXPECT_EQ(kept.history[1].detail, "HTTP 200");
  EXPECT_EQ(notifier_.told(), std::vector<std::string>{"p"});
}

TEST_F(PaymentSinkTest, what_was_not_accepted_is_passed_on) {
  take("p");
  for (const auto outcome : {sink::SinkOutcome::failed, sink::SinkOutcome::refused,
                             sink::SinkOutcome::slow_down, sink::SinkOutcome::late}) {
    EXPECT_EQ(send("p", outcome).outcome, outcome);
  }
  EXPECT_EQ(record("p").status, PaymentStatus::scheduled);
  EXPECT_TRUE(notifier_.told().empty());
}

TEST_F(PaymentSinkTest, a_hand_over_that_is_repeated_after_a_crash_is_harmless) {
  take("p");
  EXPECT_EQ(send("p").outcome, sink::SinkOutcome::done);
  EXPECT_EQ(send("p").outcome, sink::SinkOutcome::done);
  EXPECT_EQ(record("p").history.size(), 3U);
  EXPECT_EQ(notifier_.told().size(), 1U) << "it was PROCESSING already";
}

TEST_F(PaymentSinkTest, a_crash_between_accepted_and_processing_is_made_good) {
  take("p");
  const store::StatusChange accepted{
      .id = PaymentId::trusted("p"), .to = PaymentStatus::accepted, .detail = {}};
  ASSERT_TRUE(payments_.advance({&accepted, 1}, std::nullopt));
  EXPECT_EQ(send("p").outcome, sink::SinkOutcome::done);
  EXPECT_EQ(record("p").status, PaymentStatus::processing);
  EXPECT_EQ(notifier_.told().size(), 1U);
}

TEST_F(PaymentSinkTest, a_store_that_fails_charges_the_payment_nothing) {
  take("p");
  payments_.set_failure(Error{.kind = ErrorKind::unavailable, .what = "away"});
  const sink::SinkAnswer answer = send("p");
  EXPECT_EQ(answer.outcome, sink::SinkOutcome::slow_down);
  EXPECT_TRUE(answer.pause);
  payments_.set_failure(std::nullopt);
  EXPECT_EQ(send("p").outcome, sink::SinkOutcome::done);
  EXPECT_EQ(record("p").status, PaymentStatus::processing);
}

TEST_F(PaymentSinkTest, a_notice_that_cannot_be_given_comes_again) {
  take("p");
  notifier_.failure = Error{.kind = ErrorKind::unavailable, .what = "away"};
  EXPECT_EQ(send("p").outcome, sink::SinkOutcome::slow_down);
  EXPECT_EQ(record("p").status, PaymentStatus::accepted);
  notifier_.failure.reset();
  EXPECT_EQ(send("p").outcome, sink::SinkOutcome::done);
  EXPECT_EQ(record("p").status, PaymentStatus::processing);
}

TEST_F(PaymentSinkTest, an_item_without_a_payment_is_done) {
  EXPECT_EQ(send("nobody").outcome, sink::SinkOutcome::done);
  EXPECT_TRUE(notifier_.told().empty());
}

TEST_F(PaymentSinkTest, many_at_once_are_all_answered_before_it_goes) {
  constexpr int kPayments = 200;
  for (int i = 0; i < kPayments; ++i) take("p" + std::to_string(i));
  std::atomic<int> done{0};
  {
    PaymentSink sink(std::make_unique<ScriptedSink>(sink::SinkAnswer{}), execution_);
    std::vector<std::jthread> senders;
    for (int t = 0; t < 4; ++t) {
      senders.emplace_back([&, t] {
        for (int i = t; i < kPayments; i += 4) {
          sink.send({.type = store::payment_item_type(),
                     .id = ItemId::trusted("p" + std::to_string(i)),
                     .context = "{}"},
                    [&](sink::SinkAnswer answer) {
                      EXPECT_EQ(answer.outcome, sink::SinkOutcome::done);
                      ++done;
                    });
        }
      });
    }
    senders.clear();
  }
  EXPECT_EQ(done, kPayments);
  EXPECT_EQ(notifier_.told().size(), static_cast<std::size_t>(kPayments));
}

TEST(QueueNotifier, makes_items_where_there_is_a_type_for_them) {
  const runtime::SystemClock clock;
  Log log{clock, STDERR_FILENO, LogLevel::off, LogFormat::text};
  store::conformance::QueueModel queue{clock};
  store::conformance::ItemTypeModel types;
  int wakes = 0;
  QueueNotifier notifier(queue, types, clock, log, [&](const ItemType&) { ++wakes; });
  const ItemType type = ItemType::trusted("PAYMENT_NOTICE");
  const PaymentNotice notice{
      .id = PaymentId::trusted("p"), .answer = "HTTP 200", .payment = R"({"amount":"1.00"})"};
  ASSERT_TRUE(notifier.notify({&notice, 1}));
  EXPECT_EQ(*queue.find(type, ItemId::trusted("p")), std::nullopt) << "a line in the log";
  ASSERT_TRUE(types.put(type, 0, {}, std::nullopt));
  ASSERT_TRUE(notifier.notify({&notice, 1}));
  ASSERT_TRUE(notifier.notify({&notice, 1})) << "once more does no harm";
  const auto claim = queue.claim(
      {.type = type, .token = 1, .limit = 5, .stale = std::chrono::hours{1}}, std::nullopt);
  ASSERT_EQ(claim->items.size(), 1U);
  EXPECT_EQ(claim->items[0].context, R"({"status":"ACCEPTED","payment":{"amount":"1.00"}})");
  EXPECT_GE(wakes, 1);
}

}  // namespace
}  // namespace penstock::service
