// What every store of payments does. Included by payment_suite.h.
#pragma once

#include <string>
#include <vector>

#include "store/payments/conformance/payment_harness.h"

namespace penstock::store::conformance {

using Ids = std::vector<std::string>;

TEST_P(PaymentSuite, a_scheduled_payment_comes_with_its_item) {
  const NewPayment payment = new_payment("p");
  const TakenPayment answer = taken(payment);
  EXPECT_EQ(answer.result, TakeResult::created);
  EXPECT_EQ(answer.status, PaymentStatus::scheduled);
  EXPECT_EQ(answer.item, ItemState::ready);
  EXPECT_EQ(answer.scheduled, kNoon);
  const PaymentRecord kept = record("p");
  EXPECT_EQ(kept.body, payment.body);
  EXPECT_EQ(kept.created, kNoon);
  EXPECT_EQ(kept.history,
            (std::vector<PaymentNote>{
                {.at = kNoon, .from = {}, .to = PaymentStatus::scheduled, .detail = ""}}));
  ASSERT_TRUE(item("p"));
  EXPECT_EQ(item("p")->scheduled, kNoon);
  const Result<Claim> claim = queue().claim(
      {.type = payment_item_type(), .token = 1, .limit = 5, .stale = Seconds{60}}, kNoon);
  ASSERT_EQ(claim->items.size(), 1U);
  EXPECT_EQ(claim->items[0].context, payment.context);
}

TEST_P(PaymentSuite, one_that_a_rule_stopped_has_no_item) {
  for (const auto& [id, status] :
       {std::pair{"r", PaymentStatus::rejected}, {"h", PaymentStatus::held}}) {
    const TakenPayment answer = taken(new_payment(id, status));
    EXPECT_EQ(answer.status, status);
    EXPECT_EQ(answer.item, std::nullopt);
    EXPECT_EQ(answer.reason, "because");
    EXPECT_FALSE(item(id));
    EXPECT_EQ(record(id).reason, "because");
    EXPECT_EQ(record(id).history.at(0).detail, "because");
  }
}

TEST_P(PaymentSuite, the_first_answer_stands) {
  taken(new_payment("p"));
  const TakenPayment same = taken(new_payment("p", PaymentStatus::rejected), kNoon + Seconds{5});
  EXPECT_EQ(same.result, TakeResult::same);
  EXPECT_EQ(same.status, PaymentStatus::scheduled) << "the rules of then decided";
  EXPECT_EQ(same.item, ItemState::ready);
  EXPECT_EQ(same.reason, "");
  const TakenPayment other = taken(new_payment("p", PaymentStatus::scheduled, "{}"));
  EXPECT_EQ(other.result, TakeResult::different);
  EXPECT_EQ(record("p").body, new_payment("p").body);
  taken(new_payment("r", PaymentStatus::rejected));
  const TakenPayment again = taken(new_payment("r"));
  EXPECT_EQ(again.result, TakeResult::same);
  EXPECT_EQ(again.status, PaymentStatus::rejected);
  EXPECT_EQ(again.reason, "because");
  EXPECT_FALSE(item("r"));
}

TEST_P(PaymentSuite, a_batch_is_answered_in_its_order) {
  taken(new_payment("known"));
  const std::vector<NewPayment> batch = {
      new_payment("z"),
      new_payment("known"),
      new_payment("a", PaymentStatus::held),
      new_payment("known", PaymentStatus::scheduled, "{}"),
      new_payment("z"),
      new_payment("z", PaymentStatus::scheduled, "{}"),
      new_payment("b", PaymentStatus::rejected),
  };
  const auto answers = payments().take(batch, kNoon);
  ASSERT_EQ(answers.size(), batch.size());
  std::vector<TakeResult> results;
  for (const auto& answer : answers) {
    ASSERT_TRUE(answer) << answer.error().what;
    results.push_back(answer->result);
  }
  using enum TakeResult;
  EXPECT_EQ(results,
            (std::vector<TakeResult>{created, same, created, different, same, different, created}));
  EXPECT_EQ(answers[2]->status, PaymentStatus::held);
  EXPECT_EQ(answers[6]->status, PaymentStatus::rejected);
  EXPECT_EQ(answers[5]->item, ItemState::ready);
}

TEST_P(PaymentSuite, a_known_one_with_another_body_meets_the_body_that_is_there) {
  taken(new_payment("p"));
  const std::vector<NewPayment> batch = {new_payment("p", PaymentStatus::scheduled, "{}"),
                                         new_payment("p")};
  const auto answers = payments().take(batch, kNoon);
  EXPECT_EQ(answers[0]->result, TakeResult::different);
  EXPECT_EQ(answers[1]->result, TakeResult::same);
}

TEST_P(PaymentSuite, an_item_of_somebody_else_is_not_taken_over) {
  const NewItem foreign = new_item("PAYMENT", "p", kNoon);
  ASSERT_TRUE(queue().enqueue({&foreign, 1}, kNoon)[0]);
  const std::vector<NewPayment> batch = {new_payment("o"), new_payment("p"), new_payment("q"),
                                         new_payment("p")};
  const auto answers = payments().take(batch, kNoon);
  EXPECT_TRUE(answers[0]);
  EXPECT_TRUE(answers[2]);
  ASSERT_FALSE(answers[1]);
  EXPECT_EQ(answers[1].error().kind, ErrorKind::conflict);
  EXPECT_FALSE(answers[3]);
  EXPECT_EQ(*payments().find(payment_id("p")), std::nullopt);
  EXPECT_TRUE(item("q"));
  EXPECT_TRUE(*payments().find(payment_id("o")));
}

TEST_P(PaymentSuite, the_state_of_the_item_is_told_with_it) {
  taken(new_payment("p"));
  settle_all(Outcome::refused);
  EXPECT_EQ(taken(new_payment("p")).item, ItemState::dead);
  EXPECT_EQ(taken(new_payment("p")).shown(), PaymentStatus::failed);
  EXPECT_EQ(record("p").status, PaymentStatus::scheduled) << "the queue says that it failed";
  EXPECT_EQ(listed(PaymentStatus::failed), Ids{"p"});
  EXPECT_EQ(listed(PaymentStatus::scheduled), Ids{});
  ASSERT_TRUE(queue().redrive(payment_item_type(), item_id("p"), kNoon));
  EXPECT_EQ(taken(new_payment("p")).shown(), PaymentStatus::scheduled);
  settle_all(Outcome::done);
  EXPECT_EQ(taken(new_payment("p")).item, ItemState::dispatched);
}

TEST_P(PaymentSuite, moves_along_its_arrows_and_no_other_way) {
  using enum AdvanceResult;
  taken(new_payment("p"));
  EXPECT_EQ(advance("p", PaymentStatus::processing).result, conflict);
  EXPECT_EQ(advance("p", PaymentStatus::processing).status, PaymentStatus::scheduled);
  EXPECT_EQ(advance("p", PaymentStatus::accepted, kNoon + Seconds{1}, "HTTP 200").result, moved);
  EXPECT_EQ(advance("p", PaymentStatus::accepted).result, there);
  EXPECT_EQ(advance("p", PaymentStatus::processing, kNoon + Seconds{2}).status,
            PaymentStatus::processing);
  EXPECT_EQ(advance("p", PaymentStatus::accepted).result, conflict);
  EXPECT_EQ(advance("p", PaymentStatus::failed).result, conflict);
  EXPECT_EQ(advance("nobody", PaymentStatus::accepted).result, unknown);
  using enum PaymentStatus;
  EXPECT_EQ(record("p").history,
            (std::vector<PaymentNote>{
                {.at = kNoon, .from = {}, .to = scheduled, .detail = ""},
                {.at = kNoon + Seconds{1}, .from = scheduled, .to = accepted, .detail = "HTTP 200"},
                {.at = kNoon + Seconds{2}, .from = accepted, .to = processing, .detail = ""}}));
}

TEST_P(PaymentSuite, every_arrow_is_as_the_core_says) {
  using enum PaymentStatus;
  const std::vector<PaymentStatus> all = {scheduled, accepted, processing, rejected, held, failed};
  int count = 0;
  for (const PaymentStatus from : all) {
    for (const PaymentStatus to : all) {
      const std::string id = "p" + std::to_string(count++);
      const bool begins = from == rejected || from == held;
      taken(new_payment(id, begins ? from : scheduled));
      if (from == accepted || from == processing) advance(id, accepted);
      if (from == processing || from == failed) advance(id, from);
      ASSERT_EQ(record(id).status, from);
      const Advanced got = advance(id, to);
      const bool moves = core::may_report(from, to);
      EXPECT_EQ(got.result, from == to ? AdvanceResult::there
                            : moves    ? AdvanceResult::moved
                                       : AdvanceResult::conflict)
          << core::payment_status_name(from) << " " << core::payment_status_name(to);
      EXPECT_EQ(got.status, moves ? to : from);
      EXPECT_EQ(record(id).status, got.status);
    }
  }
}

TEST_P(PaymentSuite, changes_of_one_batch_are_applied_in_order) {
  taken(new_payment("a"));
  taken(new_payment("b"));
  using enum PaymentStatus;
  const std::vector<StatusChange> changes = {
      {.id = payment_id("b"), .to = accepted, .detail = {}},
      {.id = payment_id("a"), .to = processing, .detail = {}},
      {.id = payment_id("a"), .to = accepted, .detail = {}},
      {.id = payment_id("a"), .to = processing, .detail = {}},
      {.id = payment_id("x"), .to = accepted, .detail = {}},
  };
  const auto answers = payments().advance(changes, kNoon);
  ASSERT_TRUE(answers) << answers.error().what;
  std::vector<AdvanceResult> results;
  for (const Advanced& each : *answers) results.push_back(each.result);
  using enum AdvanceResult;
  EXPECT_EQ(results, (std::vector<AdvanceResult>{moved, conflict, moved, moved, unknown}));
  EXPECT_EQ(record("a").status, processing);
  EXPECT_EQ(record("b").status, accepted);
  EXPECT_TRUE(payments().advance({}, kNoon)->empty());
}

TEST_P(PaymentSuite, a_long_detail_is_cut) {
  taken(new_payment("p"));
  advance("p", PaymentStatus::accepted, kNoon, std::string(kDetailBytesMax + 10, 'x'));
  EXPECT_EQ(record("p").history.back().detail, std::string(kDetailBytesMax, 'x'));
}

TEST_P(PaymentSuite, a_held_payment_is_released_with_its_item) {
  taken(new_payment("h", PaymentStatus::held));
  NewPayment release = new_payment("h");
  release.scheduled = kNoon + Seconds{30};
  release.reason = "released by admin";
  const Result<void> released = payments().release(release, kNoon + Seconds{9});
  ASSERT_TRUE(released) << released.error().what;
  EXPECT_EQ(record("h").status, PaymentStatus::scheduled);
  EXPECT_EQ(record("h").reason, "because") << "why it was held stays";
  EXPECT_EQ(record("h").history.back(), (PaymentNote{.at = kNoon + Seconds{9},
                                                     .from = PaymentStatus::held,
                                                     .to = PaymentStatus::scheduled,
                                                     .detail = "released by admin"}));
  ASSERT_TRUE(item("h"));
  EXPECT_EQ(item("h")->scheduled, kNoon + Seconds{30});
  EXPECT_EQ(taken(new_payment("h")).scheduled, kNoon + Seconds{30});
  EXPECT_EQ(payments().release(release, kNoon).error().kind, ErrorKind::conflict);
  EXPECT_EQ(listed(PaymentStatus::held), Ids{});
  EXPECT_EQ(listed(PaymentStatus::scheduled), Ids{"h"});
}

TEST_P(PaymentSuite, only_what_is_held_is_released) {
  taken(new_payment("p"));
  taken(new_payment("r", PaymentStatus::rejected));
  EXPECT_EQ(payments().release(new_payment("p"), kNoon).error().kind, ErrorKind::conflict);
  EXPECT_EQ(payments().release(new_payment("r"), kNoon).error().kind, ErrorKind::conflict);
  EXPECT_EQ(payments().release(new_payment("x"), kNoon).error().kind, ErrorKind::not_found);
  EXPECT_FALSE(item("r"));
  taken(new_payment("h", PaymentStatus::held));
  const NewItem foreign = new_item("PAYMENT", "h", kNoon);
  ASSERT_TRUE(queue().enqueue({&foreign, 1}, kNoon)[0]);
  EXPECT_EQ(payments().release(new_payment("h"), kNoon).error().kind, ErrorKind::conflict);
  EXPECT_EQ(record("h").status, PaymentStatus::held);
}

TEST_P(PaymentSuite, what_was_executed_is_not_released_when_its_item_is_forgotten) {
  taken(new_payment("done"));
  ASSERT_EQ(settle_all(Outcome::done), 1U);
  ASSERT_EQ(*queue().forget(payment_item_type(), kNoon + Seconds{60}, 100), 1U);
  const Result<void> released = payments().release(new_payment("done"), kNoon);
  ASSERT_FALSE(released);
  EXPECT_EQ(released.error().kind, ErrorKind::conflict);
  EXPECT_FALSE(item("done")) << "it would be executed again";
}

TEST_P(PaymentSuite, lists_in_the_order_of_ids_by_status_and_page) {
  for (const char* id : {"c", "a", "e"}) taken(new_payment(id));
  for (const char* id : {"d", "b"}) taken(new_payment(id, PaymentStatus::held));
  advance("c", PaymentStatus::accepted);
  EXPECT_EQ(listed(std::nullopt), (Ids{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(listed(std::nullopt, "b", 2), (Ids{"c", "d"}));
  EXPECT_EQ(listed(PaymentStatus::held), (Ids{"b", "d"}));
  EXPECT_EQ(listed(PaymentStatus::held, "b"), Ids{"d"});
  EXPECT_EQ(listed(PaymentStatus::scheduled), (Ids{"a", "e"}));
  EXPECT_EQ(listed(PaymentStatus::accepted), Ids{"c"});
  EXPECT_EQ(listed(PaymentStatus::rejected), Ids{});
  const Result<PaymentPage> first = payments().list(std::nullopt, {}, 3);
  ASSERT_TRUE(first->next);
  EXPECT_EQ(first->next->str(), "c");
  EXPECT_EQ(payments().list(std::nullopt, payment_id("c"), 2)->next, std::nullopt);
  EXPECT_EQ(payments().list(PaymentStatus::held, {}, 1)->next, payment_id("b"));
  EXPECT_EQ(payments().list(PaymentStatus::held, {}, 2)->next, std::nullopt);
  const PaymentRow row = payments().list(std::nullopt, payment_id("a"), 1)->rows.at(0);
  EXPECT_EQ(row.reason, "because");
  EXPECT_EQ(row.scheduled, kNoon);
  EXPECT_EQ(row.item, std::nullopt);
}

TEST_P(PaymentSuite, forgets_payments_once_their_items_are_gone) {
  taken(new_payment("done"));
  taken(new_payment("waits", PaymentStatus::scheduled, "{}", kNoon + Seconds{10}));
  taken(new_payment("held", PaymentStatus::held));
  taken(new_payment("refused", PaymentStatus::rejected));
  ASSERT_EQ(settle_all(Outcome::done), 1U);
  const Instant late = kNoon + Seconds{60};
  EXPECT_EQ(payments().forget(kNoon, {}, 100)->gone, 0U) << "none is that old";
  EXPECT_EQ(payments().forget(late, {}, 100)->gone, 1U) << "only the refused one has no item";
  ASSERT_EQ(*queue().forget(payment_item_type(), late, 100), 1U);
  EXPECT_EQ(payments().forget(late, {}, 100)->gone, 1U);
  EXPECT_EQ(listed(std::nullopt), (Ids{"held", "waits"}));
  EXPECT_EQ(listed(PaymentStatus::rejected), Ids{});
  EXPECT_EQ(taken(new_payment("done")).result, TakeResult::created);
  EXPECT_EQ(taken(new_payment("refused")).result, TakeResult::created);
}

TEST_P(PaymentSuite, forgets_in_small_steps) {
  for (int i = 0; i < 7; ++i) {
    taken(new_payment("r" + std::to_string(i),
                      i % 3 == 0 ? PaymentStatus::held : PaymentStatus::rejected, "{}",
                      kNoon + Seconds{i / 2}));
  }
  std::optional<PaymentPlace> place = PaymentPlace{};
  std::size_t gone = 0;
  int steps = 0;
  while (place && steps < 20) {
    const Result<PaymentSweep> sweep = payments().forget(kNoon + Seconds{60}, *place, 2);
    ASSERT_TRUE(sweep) << sweep.error().what;
    EXPECT_LE(sweep->gone, 2U);
    gone += sweep->gone;
    place = sweep->next;
    ++steps;
  }
  EXPECT_EQ(gone, 4U);
  EXPECT_GE(steps, 4);
  EXPECT_EQ(listed(std::nullopt), (Ids{"r0", "r3", "r6"}));
}

TEST_P(PaymentSuite, keeps_any_bytes_as_they_are) {
  NewPayment payment = new_payment("p", PaymentStatus::held);
  payment.body = std::string("{\"a\":\"\0\xff\"}", 10);
  payment.reason = std::string("why \0 \xc3\xa9", 8);
  taken(payment);
  EXPECT_EQ(record("p").body, payment.body);
  EXPECT_EQ(record("p").reason, payment.reason);
  EXPECT_EQ(taken(payment).reason, payment.reason);
}

TEST_P(PaymentSuite, all_of_it_is_there_after_a_restart) {
  taken(new_payment("p"));
  taken(new_payment("h", PaymentStatus::held));
  advance("p", PaymentStatus::accepted, kNoon, "HTTP 200");
  const core::PaymentRules some = {
      {.name = "a", .when = {.country = "DE"}, .then = core::RuleAction::hold, .reason = "r"}};
  ASSERT_TRUE(rules().put(some, kNoon));
  harness().reopen();
  EXPECT_EQ(record("p").status, PaymentStatus::accepted);
  EXPECT_EQ(record("p").history.size(), 2U);
  EXPECT_TRUE(item("p"));
  EXPECT_EQ(listed(PaymentStatus::held), Ids{"h"});
  EXPECT_EQ(rules().get()->rules, some);
}

TEST_P(PaymentSuite, rules_are_replaced_as_a_whole) {
  EXPECT_EQ(rules().get()->revision, 0U);
  EXPECT_TRUE(rules().get()->rules.empty());
  EXPECT_EQ(*rules().revision(), 0U);
  const core::PaymentRules first = {
      {.name = "a",
       .when = {.currency = "EUR", .above = core::parse_threshold("10.5").value()},
       .then = core::RuleAction::hold,
       .reason = "r \"quoted\" \xc3\xa9"}};
  const core::PaymentRules second = {
      {.name = "b",
       .when = {.debtor = core::Iban::parse("DE89370400440532013000").value()},
       .then = core::RuleAction::reject,
       .reason = "s"},
      {.name = "c", .when = {}, .then = core::RuleAction::hold, .reason = "t"}};
  EXPECT_EQ(rules().put(first, kNoon)->revision, 1U);
  EXPECT_EQ(rules().get()->rules, first);
  EXPECT_EQ(rules().get()->changed, kNoon);
  EXPECT_EQ(rules().put(second, kNoon + Seconds{1})->revision, 2U);
  EXPECT_EQ(rules().get()->rules, second);
  EXPECT_EQ(*rules().revision(), 2U);
  EXPECT_EQ(rules().put({{.name = "", .when = {}, .then = {}, .reason = "r"}}, kNoon).error().kind,
            ErrorKind::invalid);
  EXPECT_TRUE(rules().put({}, kNoon)->rules.empty());
  EXPECT_EQ(rules().get()->revision, 3U);
}

}  // namespace penstock::store::conformance
