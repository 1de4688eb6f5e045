#include "service/payments/payment_service.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "runtime/test_eventually.h"
#include "service/testing/payments.h"
#include "service/testing/retention_clock.h"

namespace penstock::service {
namespace {

using core::PaymentStatus;

core::PaymentCall payment(std::string id, std::string_view amount = "1.00",
                          Instant execution = Instant{}) {
  core::PaymentCall call = *core::check_payment({.amount = amount,
                                                 .currency = "EUR",
                                                 .debtor_iban = "DE89370400440532013000",
                                                 .creditor_iban = "GB82WEST12345698765432",
                                                 .reference = std::nullopt});
  call.id = PaymentId::trusted(std::move(id));
  call.execution = execution;
  call.digest[0] = static_cast<std::uint8_t>(call.amount.minor);
  return call;
}

// What the last context was told of the time that its payment came in.
std::atomic<Instant> last_received{};

// The amount is all that these tests keep of a payment.
PaymentFormat format() {
  return {.body = [](const core::PaymentCall& call) { return core::format_money(call.amount); },
          .context =
              [](const core::PaymentCall& call, Instant received) {
                last_received = received;
                return "\"" + core::format_money(call.amount) + "\"";
              },
          .read_body = [](const PaymentId& id, std::string_view body) -> Result<core::PaymentCall> {
            return payment(id.str(), body);
          }};
}

core::PaymentRule rule(core::RuleAction then, std::string_view above) {
  return {.name = "limit",
          .when = {.above = core::parse_threshold(above).value()},
          .then = then,
          .reason = "too much"};
}

class PaymentServiceTest : public testing::Test {
 protected:
  store::TakenPayment take(const core::PaymentCall& call) {
    auto taken = node_.take({call});
    EXPECT_TRUE(taken.at(0)) << taken[0].error().what;
    return taken[0].value_or(store::TakenPayment{});
  }
  void put_rules(const core::PaymentRules& rules) {
    ASSERT_TRUE(node_.call<core::PaymentRules>(&PaymentService::put_rules, rules, "req"));
  }
  Result<PaymentView> view(const std::string& id) {
    return node_.call<PaymentView>(&PaymentService::find, PaymentId::trusted(id));
  }
  Result<PaymentView> report(const std::string& id, PaymentStatus status) {
    return node_.call<PaymentView>(&PaymentService::report, PaymentId::trusted(id), status, "admin",
                                   "req");
  }

  TestPayments node_{format()};
};

TEST_F(PaymentServiceTest, a_time_that_has_passed_runs_now_and_wakes_the_dispatcher) {
  const Instant before = cut_to_millis(node_.clock.now());
  const store::TakenPayment taken = take(payment("p"));
  EXPECT_GE(taken.scheduled, before);
  EXPECT_LE(taken.scheduled, node_.clock.now());
  EXPECT_EQ(node_.wakes, 1);
  const Instant later = cut_to_millis(node_.clock.now()) + std::chrono::hours{5};
  EXPECT_EQ(take(payment("q", "1.00", later)).scheduled, later);
  EXPECT_EQ(node_.wakes, 1) << "a dispatcher looks by itself until then";
}

TEST_F(PaymentServiceTest, the_rules_in_force_decide) {
  EXPECT_EQ(take(payment("a", "100")).status, PaymentStatus::scheduled);
  put_rules({rule(core::RuleAction::hold, "50")});
  const store::TakenPayment held = take(payment("b", "100"));
  EXPECT_EQ(held.status, PaymentStatus::held);
  EXPECT_EQ(held.reason, "too much");
  EXPECT_EQ(take(payment("c", "50")).status, PaymentStatus::scheduled);
  put_rules({rule(core::RuleAction::reject, "10")});
  EXPECT_EQ(take(payment("d", "100")).status, PaymentStatus::rejected);
  EXPECT_EQ(take(payment("b", "100")).status, PaymentStatus::held) << "its first answer stands";
  put_rules({});
  EXPECT_EQ(take(payment("e", "100")).status, PaymentStatus::scheduled);
}

TEST_F(PaymentServiceTest, rules_that_another_node_put_are_followed) {
  ASSERT_TRUE(node_.payments.put({rule(core::RuleAction::reject, "1")}, std::nullopt));
  // The ticker brings them within half a second; a minute is a failure.
  const Instant end = node_.clock.now() + std::chrono::minutes{1};
  while (node_.service->rules().empty() && node_.clock.now() < end) std::this_thread::yield();
  EXPECT_EQ(take(payment("p", "2")).status, PaymentStatus::rejected);
}

TEST_F(PaymentServiceTest, the_first_payment_makes_the_type_switched_off) {
  EXPECT_FALSE(node_.types.find(store::payment_item_type())->has_value());
  take(payment("p"));
  const auto made = node_.types.find(store::payment_item_type());
  ASSERT_TRUE(made && *made);
  EXPECT_FALSE((*made)->settings.enabled);
}

TEST_F(PaymentServiceTest, a_type_that_is_there_stays_as_it_is) {
  ASSERT_TRUE(node_.types.put(store::payment_item_type(), 0, {}, std::nullopt));
  take(payment("p"));
  EXPECT_EQ((*node_.types.find(store::payment_item_type()))->version, 1);
}

TEST_F(PaymentServiceTest, a_held_payment_is_released_once) {
  put_rules({rule(core::RuleAction::hold, "50")});
  take(payment("h", "100"));
  const auto release = [&](const std::string& id) {
    return node_.call<PaymentView>(&PaymentService::release, PaymentId::trusted(id), "admin",
                                   "req");
  };
  const Result<PaymentView> released = release("h");
  ASSERT_TRUE(released) << released.error().what;
  EXPECT_EQ(released->status, PaymentStatus::scheduled);
  ASSERT_TRUE(released->item);
  EXPECT_EQ(released->history.size(), 2U);
  EXPECT_EQ(last_received.load(), released->payment.created) << "not when it was released";
  EXPECT_EQ(release("h").error().kind, ErrorKind::conflict);
  EXPECT_EQ(release("x").error().kind, ErrorKind::not_found);
}

TEST_F(PaymentServiceTest, executors_report_along_the_arrows) {
  take(payment("p"));
  EXPECT_EQ(report("p", PaymentStatus::processing).error().kind, ErrorKind::conflict);
  EXPECT_EQ(report("p", PaymentStatus::accepted)->status, PaymentStatus::accepted);
  EXPECT_EQ(report("p", PaymentStatus::accepted)->status, PaymentStatus::accepted);
  EXPECT_EQ(report("p", PaymentStatus::processing)->history.size(), 3U);
  EXPECT_EQ(report("x", PaymentStatus::accepted).error().kind, ErrorKind::not_found);
}

TEST_F(PaymentServiceTest, a_dead_item_fails_the_payment_until_it_is_redriven) {
  const ItemType& type = store::payment_item_type();
  const ItemId id = ItemId::trusted("p");
  take(payment("p"));
  const auto claim = node_.queue.claim(
      {.type = type, .token = 1, .limit = 1, .stale = std::chrono::hours{1}}, std::nullopt);
  ASSERT_EQ(claim->items.size(), 1U);
  const store::Settlement refused{.id = id,
                                  .batch_id = "b",
                                  .outcome = core::Outcome::refused,
                                  .detail = "HTTP 400",
                                  .not_before = {}};
  ASSERT_TRUE(node_.queue.settle({.type = type, .token = 1, .items = {&refused, 1}}, std::nullopt));
  const Result<PaymentView> dead = view("p");
  EXPECT_EQ(dead->status, PaymentStatus::failed);
  EXPECT_EQ(dead->history.back().from, PaymentStatus::scheduled);
  EXPECT_EQ(dead->history.back().to, PaymentStatus::failed);
  EXPECT_EQ(dead->history.back().detail, "HTTP 400");
  EXPECT_EQ(take(payment("p")).shown(), PaymentStatus::failed);
  ASSERT_TRUE(node_.queue.redrive(type, id, std::nullopt));
  const Result<PaymentView> again = view("p");
  EXPECT_EQ(again->status, PaymentStatus::scheduled);
  EXPECT_EQ(again->history.back().from, PaymentStatus::failed);
  EXPECT_EQ(again->history.size(), 3U);
}

TEST_F(PaymentServiceTest, a_store_that_fails_is_said_so) {
  node_.payments.set_failure(Error{.kind = ErrorKind::unavailable, .what = "away"});
  EXPECT_EQ(node_.take({payment("p")})[0].error().kind, ErrorKind::unavailable);
  EXPECT_EQ(report("p", PaymentStatus::accepted).error().kind, ErrorKind::unavailable);
}

TEST_F(PaymentServiceTest, answers_after_stop_that_it_takes_nothing_more) {
  node_.service->stop();
  EXPECT_EQ(node_.take({payment("p")})[0].error().kind, ErrorKind::overloaded);
  EXPECT_EQ(view("p").error().kind, ErrorKind::overloaded);
  EXPECT_EQ(report("p", PaymentStatus::accepted).error().kind, ErrorKind::overloaded);
  EXPECT_TRUE(node_.take({}).empty());
}

using store::PaymentNote;

store::PaymentRecord kept(std::vector<PaymentNote> history) {
  store::PaymentRecord record;
  record.status = history.back().to;
  record.history = std::move(history);
  return record;
}
Instant at(int second) { return Instant{Seconds{second}}; }

TEST(ViewPayment, the_queue_has_no_say_once_the_payment_was_accepted) {
  store::ItemView item;
  item.state = core::ItemState::dead;
  item.audit = {{.at = at(5),
                 .action = "DEAD",
                 .from = core::ItemState::claimed,
                 .to = core::ItemState::dead,
                 .batch_id = {},
                 .detail = "late"}};
  const PaymentView view =
      view_payment(kept({{.at = at(1), .from = {}, .to = PaymentStatus::scheduled, .detail = {}},
                         {.at = at(2),
                          .from = PaymentStatus::scheduled,
                          .to = PaymentStatus::accepted,
                          .detail = {}}}),
                   item);
  EXPECT_EQ(view.status, PaymentStatus::accepted);
  EXPECT_EQ(view.history.size(), 2U);
}

TEST(ViewPayment, a_late_answer_leads_out_of_failed) {
  store::ItemView item;
  item.state = core::ItemState::cancelled;
  item.audit = {{.at = at(2),
                 .action = "CANCELLED",
                 .from = core::ItemState::ready,
                 .to = core::ItemState::cancelled,
                 .batch_id = {},
                 .detail = {}}};
  const PaymentView view =
      view_payment(kept({{.at = at(1), .from = {}, .to = PaymentStatus::scheduled, .detail = {}},
                         {.at = at(3),
                          .from = PaymentStatus::scheduled,
                          .to = PaymentStatus::accepted,
                          .detail = {}}}),
                   item);
  ASSERT_EQ(view.history.size(), 3U);
  EXPECT_EQ(view.history[1].to, PaymentStatus::failed);
  EXPECT_EQ(view.history[1].detail, "cancelled");
  EXPECT_EQ(view.history[2].from, PaymentStatus::failed);
  EXPECT_EQ(view.status, PaymentStatus::accepted);
}

TEST(PaymentRetention, goes_by_the_stores_own_time) {
  FakeRetentionClock own;
  TestPayments node(format(), &own);
  ASSERT_TRUE(node.call<core::PaymentRules>(
      &PaymentService::put_rules, core::PaymentRules{rule(core::RuleAction::reject, "0")}, "req"));
  ASSERT_TRUE(node.take({payment("p")}).at(0));
  const auto known = [&] {
    return node.call<PaymentView>(&PaymentService::find, PaymentId::trusted("p")).has_value();
  };
  own.wait_for_a_round();
  EXPECT_GE(own.asked_for.load(), std::chrono::days{10});
  EXPECT_TRUE(known());
  own.old = node.clock.now() + std::chrono::hours{1};
  EXPECT_TRUE(runtime::eventually([&] { return !known(); }));
  node.service->stop();
}

}  // namespace
}  // namespace penstock::service
