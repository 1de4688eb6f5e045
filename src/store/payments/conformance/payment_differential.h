// Random histories of payments and their items give the same answers on a backend and on the model;
// and of callers that bring the same payments at once, one is the first. Included by
// payment_suite.h.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "store/payments/conformance/payment_harness.h"
#include "store/payments/conformance/payment_model.h"
#include "store/queue/conformance/queue_model.h"

namespace penstock::store::conformance {

class PaymentHistory {
 public:
  PaymentHistory(const Backend& backend, std::uint64_t seed) : backend_(backend), rng_(seed) {}

  void use(const Backend& backend) { backend_ = backend; }

  void step() {
    now_ += Millis{rng_.between(0, 3'000)};
    switch (rng_.below(10)) {
      case 0:
      case 1:
      case 2:
        return take();
      case 3:
      case 4:
        return advance();
      case 5:
        return release();
      case 6:
        return dispatch();
      case 7:
        return cancel_or_redrive();
      case 8:
        return forget();
      default:
        return compare();
    }
  }

  void compare() {
    for (int i = 0; i < 5; ++i) {
      const PaymentId id = any_id();
      const auto got = payments().find(id).value();
      const auto expected = model_.find(id).value();
      ASSERT_EQ(got.has_value(), expected.has_value()) << id.str();
      if (!got) continue;
      ASSERT_EQ(got->status, expected->status);
      ASSERT_EQ(got->created, expected->created);
      ASSERT_EQ(got->scheduled, expected->scheduled);
      ASSERT_EQ(got->reason, expected->reason);
      ASSERT_EQ(got->body, expected->body);
      ASSERT_EQ(got->history, expected->history);
    }
    std::optional<PaymentStatus> status;
    if (rng_.below(7) > 0) status = static_cast<PaymentStatus>(rng_.below(core::kPaymentStatuses));
    const PaymentId after = rng_.below(2) == 0 ? PaymentId{} : any_id();
    const std::size_t limit = 1 + rng_.below(10);
    const PaymentPage got = payments().list(status, after, limit).value();
    const PaymentPage expected = model_.list(status, after, limit).value();
    ASSERT_EQ(got.rows.size(), expected.rows.size());
    for (std::size_t i = 0; i < got.rows.size(); ++i) {
      ASSERT_EQ(got.rows[i].id, expected.rows[i].id);
      ASSERT_EQ(got.rows[i].status, expected.rows[i].status);
      ASSERT_EQ(got.rows[i].item, expected.rows[i].item);
      ASSERT_EQ(got.rows[i].reason, expected.rows[i].reason);
    }
    // The model looks further: the last page may lead to an empty one.
    if (expected.next) {
      ASSERT_EQ(got.next, expected.next);
    }
  }

 private:
  PaymentStore& payments() { return *backend_.payments.store; }
  QueueStore& queue() { return *backend_.queue.store; }
  PaymentId any_id() { return payment_id("p" + std::to_string(rng_.below(40))); }

  void take() {
    std::vector<NewPayment> batch;
    for (std::uint64_t n = 1 + rng_.below(8); n > 0; --n) {
      const auto kind = rng_.below(6);
      const PaymentStatus status = kind == 0   ? PaymentStatus::rejected
                                   : kind == 1 ? PaymentStatus::held
                                               : PaymentStatus::scheduled;
      batch.push_back(new_payment(any_id().str(), status, rng_.below(4) == 0 ? "{}" : R"({"a":1})",
                                  cut_to_millis(now_ + Millis{rng_.between(0, 9'000)})));
    }
    const auto got = payments().take(batch, now_);
    const auto expected = model_.take(batch, now_);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].has_value(), expected[i].has_value());
      if (!got[i]) continue;
      ASSERT_EQ(got[i]->result, expected[i]->result);
      ASSERT_EQ(got[i]->status, expected[i]->status);
      ASSERT_EQ(got[i]->item, expected[i]->item);
      ASSERT_EQ(got[i]->scheduled, expected[i]->scheduled);
      ASSERT_EQ(got[i]->reason, expected[i]->reason);
    }
  }

  void advance() {
    std::vector<StatusChange> changes;
    for (std::uint64_t n = 1 + rng_.below(8); n > 0; --n) {
      changes.push_back({.id = any_id(),
                         .to = static_cast<PaymentStatus>(rng_.below(core::kPaymentStatuses)),
                         .detail = rng_.below(2) == 0 ? "" : "d"});
    }
    const auto got = payments().advance(changes, now_).value();
    const auto expected = model_.advance(changes, now_).value();
    for (std::size_t i = 0; i < changes.size(); ++i) {
      ASSERT_EQ(got[i].result, expected[i].result);
      if (got[i].result == AdvanceResult::unknown) continue;
      ASSERT_EQ(got[i].status, expected[i].status);
    }
  }

  void release() {
    const NewPayment payment = new_payment(any_id().str());
    const Result<void> got = payments().release(payment, now_);
    const Result<void> expected = model_.release(payment, now_);
    ASSERT_EQ(got.has_value(), expected.has_value());
    if (!got) {
      ASSERT_EQ(got.error().kind, expected.error().kind);
    }
  }

  // Claims some, and settles them one way or another.
  void dispatch() {
    const ClaimRequest request{.type = payment_item_type(),
                               .token = 1,
                               .limit = 1 + rng_.below(8),
                               .stale = std::chrono::hours{10}};
    const Claim got = queue().claim(request, now_).value();
    const Claim expected = queue_.claim(request, now_).value();
    ASSERT_EQ(got.items.size(), expected.items.size());
    std::vector<Settlement> items;
    for (std::size_t i = 0; i < got.items.size(); ++i) {
      ASSERT_EQ(got.items[i].id, expected.items[i].id);
      ASSERT_EQ(got.items[i].context, expected.items[i].context);
      items.push_back({.id = got.items[i].id,
                       .batch_id = "b",
                       .outcome = static_cast<Outcome>(rng_.below(4)),
                       .detail = "d",
                       .not_before = now_});
    }
    if (items.empty()) return;
    const SettleRequest settle{.type = payment_item_type(), .token = 1, .items = items};
    ASSERT_EQ(queue().settle(settle, now_).value(), queue_.settle(settle, now_).value());
  }

  void cancel_or_redrive() {
    const ItemId id = item_id_of(any_id());
    if (rng_.below(2) == 0) {
      ASSERT_EQ(queue().cancel(payment_item_type(), id, now_).has_value(),
                queue_.cancel(payment_item_type(), id, now_).has_value());
    } else {
      ASSERT_EQ(queue().redrive(payment_item_type(), id, now_).has_value(),
                queue_.redrive(payment_item_type(), id, now_).has_value());
    }
  }

  void forget() {
    const Instant before = now_ - Millis{rng_.between(5'000, 60'000)};
    ASSERT_EQ(queue().forget(payment_item_type(), before, 1'000).value(),
              queue_.forget(payment_item_type(), before, 1'000).value());
    std::size_t gone = 0;
    std::optional<PaymentPlace> place = PaymentPlace{};
    while (place) {
      PaymentSweep sweep = payments().forget(before, *place, 3).value();
      gone += sweep.gone;
      place = std::move(sweep.next);
    }
    ASSERT_EQ(gone, model_.forget(before, {}, 0)->gone);
  }

  Backend backend_;
  Rng rng_;
  Instant now_ = kNoon;
  SimulatedClock clock_{kNoon};
  QueueModel queue_{clock_};
  PaymentModel model_{queue_, clock_};
};

TEST_P(PaymentDifferentialSuite, does_as_the_model_does) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    if (seed > 1) SetUp();
    PaymentHistory history(harness().backend(), seed);
    for (int step = 0; step < 400; ++step) {
      history.step();
      if (HasFatalFailure()) FAIL() << "seed " << seed << " step " << step;
      if (step % 100 == 99) {
        harness().reopen();
        history.use(harness().backend());
      }
    }
    history.compare();
  }
}

TEST_P(PaymentConcurrencySuite, takes_a_payment_of_many_callers_once) {
  std::atomic<int> created{0};
  {
    std::vector<std::jthread> callers;
    for (int t = 0; t < 4; ++t) {
      callers.emplace_back([&] {
        for (int i = 0; i < 50; ++i) {
          const std::vector<NewPayment> batch = {
              new_payment("x" + std::to_string(i)), new_payment("y" + std::to_string(i / 2)),
              new_payment("h" + std::to_string(i), PaymentStatus::held)};
          for (const Result<TakenPayment>& each : payments().take(batch, kNoon)) {
            EXPECT_TRUE(each) << each.error().what;
            if (each && each->result == TakeResult::created) ++created;
          }
        }
      });
    }
  }
  EXPECT_EQ(created, 125);
  EXPECT_EQ(queue().summary(payment_item_type())->counts[0], 75U);
}

TEST_P(PaymentConcurrencySuite, one_of_many_releases_and_reports_counts) {
  constexpr int kPayments = 40;
  for (int i = 0; i < kPayments; ++i) {
    taken(new_payment("h" + std::to_string(i), PaymentStatus::held));
  }
  std::atomic<int> released{0};
  std::atomic<int> accepted{0};
  {
    std::vector<std::jthread> callers;
    for (int t = 0; t < 4; ++t) {
      callers.emplace_back([&] {
        for (int i = 0; i < kPayments; ++i) {
          const std::string id = "h" + std::to_string(i);
          if (payments().release(new_payment(id), kNoon)) ++released;
          const Advanced done = advance(id, PaymentStatus::accepted);
          EXPECT_NE(done.result, AdvanceResult::unknown);
          if (done.result == AdvanceResult::moved) ++accepted;
        }
      });
    }
  }
  EXPECT_EQ(released, kPayments);
  EXPECT_EQ(accepted, kPayments);
  for (int i = 0; i < kPayments; ++i) {
    EXPECT_EQ(record("h" + std::to_string(i)).history.size(), 3U);
  }
}

}  // namespace penstock::store::conformance
