// The rules of QueueStore, one by one. Included by queue_suite.h.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "store/queue/conformance/queue_harness.h"

namespace penstock::store::conformance {

TEST_P(QueueSuite, takes_an_item_once) {
  const NewItem item = new_item("T", "a", kNoon);
  EXPECT_EQ(put(item).result, EnqueueResult::created);
  const Enqueued again = put(item, kNoon + Seconds{5});
  EXPECT_EQ(again.result, EnqueueResult::same);
  EXPECT_EQ(again.scheduled, kNoon);
  EXPECT_EQ(put(new_item("T", "a", kNoon, R"({"a":2})")).result, EnqueueResult::different);
  EXPECT_EQ(put(new_item("U", "a", kNoon, R"({"a":2})")).result, EnqueueResult::created);
  EXPECT_EQ(count(ItemState::ready), 1U);
}

TEST_P(QueueSuite, takes_an_item_that_stands_twice_in_a_batch_once) {
  const std::vector<NewItem> items = {new_item("T", "a", kNoon), new_item("T", "a", kNoon),
                                      new_item("T", "a", kNoon + Seconds{1})};
  const auto answers = queue().enqueue(items, kNoon);
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0]->result, EnqueueResult::created);
  EXPECT_EQ(answers[1]->result, EnqueueResult::same);
  EXPECT_EQ(answers[2]->result, EnqueueResult::different);
  EXPECT_EQ(count(ItemState::ready), 1U);
  EXPECT_TRUE(queue().enqueue({}, kNoon).empty());
}

TEST_P(QueueSuite, claims_what_is_due_in_the_order_of_time_and_id) {
  put(new_item("T", "late", kNoon + Seconds{9}));
  put(new_item("T", "b", kNoon - Seconds{1}, R"({"of":"b"})"));
  put(new_item("T", "c", kNoon - Seconds{2}));
  put(new_item("T", "a", kNoon - Seconds{1}));
  put(new_item("U", "other", kNoon - Seconds{5}));
  const Claim first = claim(1, 2);
  EXPECT_EQ(ids(first), (std::vector<std::string>{"c", "a"}));
  const Claim rest = claim(1, 10);
  ASSERT_EQ(ids(rest), (std::vector<std::string>{"b"}));
  EXPECT_EQ(rest.items[0].context, R"({"of":"b"})");
  EXPECT_EQ(rest.items[0].attempts, 1);
  EXPECT_EQ(rest.items[0].scheduled, kNoon - Seconds{1});
  EXPECT_EQ(rest.next_due, kNoon + Seconds{9});
  EXPECT_NE(rest.batch_id, first.batch_id);
  EXPECT_TRUE(claim(1, 10).items.empty());
}

TEST_P(QueueSuite, claims_no_more_bytes_than_told_and_always_one_item) {
  const std::string context = R"({"a":")" + std::string(992, 'x') + R"("})";  // 1,000 bytes
  for (const char* id : {"a", "b", "c", "d", "e"}) put(new_item("T", id, kNoon, context));
  const auto claim_bytes = [&](std::size_t limit, std::size_t bytes) {
    return queue().claim(
        {.type = item_type("T"), .token = 1, .limit = limit, .bytes = bytes, .stale = Seconds{60}},
        kNoon);
  };
  const Result<Claim> two = claim_bytes(10, 1'001);
  ASSERT_TRUE(two);
  EXPECT_EQ(ids(*two), (std::vector<std::string>{"a", "b"}));
  ASSERT_TRUE(two->next_due) << "there is more";
  EXPECT_LE(*two->next_due, kNoon);
  const Result<Claim> one = claim_bytes(10, 0);
  ASSERT_TRUE(one);
  EXPECT_EQ(ids(*one), (std::vector<std::string>{"c"}));
  EXPECT_TRUE(one->next_due);
  const Result<Claim> limited = claim_bytes(1, 100'000);
  ASSERT_TRUE(limited);
  EXPECT_EQ(ids(*limited), (std::vector<std::string>{"d"}));
  EXPECT_FALSE(limited->next_due);
  const Result<Claim> rest = claim_bytes(10, 100'000);
  ASSERT_TRUE(rest);
  EXPECT_EQ(ids(*rest), (std::vector<std::string>{"e"}));
  EXPECT_FALSE(rest->next_due);
}

TEST_P(QueueSuite, claims_early_when_told_to) {
  put(new_item("T", "a", kNoon + Seconds{60}));
  EXPECT_TRUE(claim(1, 10).items.empty());
  EXPECT_EQ(claim(1, 10, kNoon, 5, Seconds{60}).items.size(), 1U);
}

TEST_P(QueueSuite, settles_what_the_token_holds) {
  put_many("i", 3, kNoon);
  claim(7, 2);
  EXPECT_TRUE(settle(7, "i1000", Outcome::done, kNoon + Seconds{1}));
  EXPECT_FALSE(settle(7, "i1000", Outcome::done)) << "settled already";
  EXPECT_FALSE(settle(6, "i1001", Outcome::done)) << "another token's";
  EXPECT_FALSE(settle(7, "i1002", Outcome::done)) << "not claimed";
  EXPECT_FALSE(settle(7, "unknown", Outcome::done));
  const ItemView done = view("i1000");
  EXPECT_EQ(done.state, ItemState::dispatched);
  EXPECT_EQ(done.dispatched, kNoon + Seconds{1});
  EXPECT_EQ(view("i1001").state, ItemState::claimed);
  EXPECT_EQ(view("i1002").state, ItemState::ready);
}

TEST_P(QueueSuite, tries_again_after_the_given_time_until_retries_are_used_up) {
  put(new_item("T", "a", kNoon));
  Instant now = kNoon;
  for (int attempt = 1; attempt <= 3; ++attempt) {
    EXPECT_TRUE(claim(1, 10, now - Millis{1}, 3).items.empty());
    const Claim got = claim(1, 10, now, 3);
    ASSERT_EQ(got.items.size(), 1U);
    EXPECT_EQ(got.items[0].retry_count, attempt - 1);
    EXPECT_EQ(got.items[0].attempts, attempt);
    EXPECT_EQ(got.items[0].scheduled, kNoon);
    EXPECT_TRUE(settle(1, "a", Outcome::failed, now, "error " + std::to_string(attempt),
                       now + Seconds{10}, 3));
    now += Seconds{10};
    if (attempt < 3) {
      EXPECT_EQ(view("a").due, now);
    }
  }
  const ItemView dead = view("a");
  EXPECT_EQ(dead.state, ItemState::dead);
  EXPECT_EQ(dead.retry_count, 3);
  EXPECT_EQ(dead.attempts, 3);
  EXPECT_EQ(dead.last_error, "error 3");
  EXPECT_TRUE(claim(1, 10, now + Seconds{1'000}, 3).items.empty());
}

TEST_P(QueueSuite, charges_nothing_for_what_comes_back_unsent) {
  put(new_item("T", "a", kNoon));
  claim(1, 1);
  EXPECT_TRUE(settle(1, "a", Outcome::give_back, kNoon, "switched off", kNoon));
  const ItemView back = view("a");
  EXPECT_EQ(back.state, ItemState::ready);
  EXPECT_EQ(back.retry_count, 0);
  EXPECT_EQ(back.attempts, 0);
  EXPECT_EQ(back.last_error, "");
  EXPECT_EQ(claim(1, 1).items.size(), 1U);
}

TEST_P(QueueSuite, makes_what_is_refused_dead_at_once) {
  put(new_item("T", "a", kNoon));
  claim(1, 1);
  EXPECT_TRUE(settle(1, "a", Outcome::refused, kNoon, "HTTP 400"));
  EXPECT_EQ(view("a").state, ItemState::dead);
  EXPECT_EQ(view("a").last_error, "HTTP 400");
}

TEST_P(QueueSuite, makes_dead_what_has_no_retries_left_by_now) {
  put(new_item("T", "a", kNoon));
  claim(1, 1);
  settle(1, "a", Outcome::failed, kNoon, "x", kNoon);
  EXPECT_TRUE(claim(1, 1, kNoon, 1).items.empty()) << "the type allows one attempt by now";
  EXPECT_EQ(view("a").state, ItemState::dead);
}

TEST_P(QueueSuite, hands_the_claims_of_an_older_token_to_the_next_at_once) {
  put_many("i", 4, kNoon);
  EXPECT_EQ(claim(1, 3).items.size(), 3U);
  const Claim taken = claim(2, 10);
  EXPECT_EQ(taken.items.size(), 4U);
  EXPECT_EQ(taken.items[0].attempts, 2);
  EXPECT_FALSE(settle(1, "i1000", Outcome::done)) << "the old holder may change nothing";
  EXPECT_TRUE(settle(2, "i1000", Outcome::done));
  const Result<Claim> old =
      queue().claim({.type = item_type("T"), .token = 1, .limit = 1, .stale = Seconds{60}}, kNoon);
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().kind, ErrorKind::conflict);
}

TEST_P(QueueSuite, claims_stale_claims_of_the_same_token_again) {
  put(new_item("T", "a", kNoon));
  claim(1, 1);
  EXPECT_TRUE(claim(1, 1, kNoon + std::chrono::minutes{1}).items.empty());
  EXPECT_EQ(claim(1, 1, kNoon + std::chrono::minutes{2}).items.size(), 1U);
}

TEST_P(QueueSuite, cancels_only_what_is_ready) {
  put_many("i", 2, kNoon);
  ASSERT_TRUE(queue().cancel(item_type("T"), item_id("i1000"), kNoon));
  EXPECT_EQ(claim(1, 10).items.size(), 1U);
  EXPECT_EQ(put(new_item("T", "i1000", kNoon)).result, EnqueueResult::cancelled);
  EXPECT_EQ(queue().cancel(item_type("T"), item_id("i1000"), kNoon).error().kind,
            ErrorKind::conflict);
  EXPECT_EQ(queue().cancel(item_type("T"), item_id("i1001"), kNoon).error().kind,
            ErrorKind::conflict);
  EXPECT_EQ(queue().cancel(item_type("T"), item_id("none"), kNoon).error().kind,
            ErrorKind::not_found);
}

TEST_P(QueueSuite, redrives_only_what_is_dead) {
  put(new_item("T", "a", kNoon));
  EXPECT_EQ(queue().redrive(item_type("T"), item_id("a"), kNoon).error().kind, ErrorKind::conflict);
  EXPECT_EQ(queue().redrive(item_type("T"), item_id("none"), kNoon).error().kind,
            ErrorKind::not_found);
  claim(1, 1);
  settle(1, "a", Outcome::refused, kNoon, "x");
  const Instant later = kNoon + Seconds{30};
  const Result<ItemView> back = queue().redrive(item_type("T"), item_id("a"), later);
  ASSERT_TRUE(back) << back.error().what;
  EXPECT_EQ(back->state, ItemState::ready);
  EXPECT_EQ(back->retry_count, 0);
  const Claim again = claim(1, 1, later);
  ASSERT_EQ(again.items.size(), 1U);
  EXPECT_EQ(again.items[0].attempts, 2) << "attempts keep counting";
  EXPECT_EQ(again.items[0].scheduled, kNoon);
}

TEST_P(QueueSuite, tells_the_story_of_an_item) {
  put(new_item("T", "a", kNoon));
  const Claim got = claim(1, 1, kNoon + Seconds{1});
  settle(1, "a", Outcome::failed, kNoon + Seconds{2}, "HTTP 500", kNoon + Seconds{3});
  claim(1, 1, kNoon + Seconds{3});
  settle(1, "a", Outcome::done, kNoon + Seconds{4}, "HTTP 200");
  const ItemView story = view("a");
  std::vector<std::string> actions;
  for (const AuditEntry& entry : story.audit) actions.push_back(entry.action);
  EXPECT_EQ(actions, (std::vector<std::string>{"ENQUEUED", "CLAIMED", "DISPATCH_FAILED", "CLAIMED",
                                               "DISPATCHED"}));
  ASSERT_EQ(story.audit.size(), 5U);
  EXPECT_EQ(story.audit[0].from, std::nullopt);
  EXPECT_EQ(story.audit[1].at, kNoon + Seconds{1});
  EXPECT_EQ(story.audit[1].batch_id, got.batch_id);
  EXPECT_EQ(story.audit[2].detail, "HTTP 500");
  EXPECT_EQ(story.audit[2].from, ItemState::claimed);
  EXPECT_EQ(story.audit[2].to, ItemState::ready);
  EXPECT_EQ(story.audit[4].to, ItemState::dispatched);
  EXPECT_EQ(story.created, kNoon);
  EXPECT_EQ(story.claimed, kNoon + Seconds{3});
  EXPECT_FALSE(*queue().find(item_type("T"), item_id("none")));
}

TEST_P(QueueSuite, sums_up_a_type) {
  put_many("i", 10, kNoon);
  put_many("f", 5, kNoon + Seconds{100});
  claim(1, 4);
  settle(1, "i1000", Outcome::done);
  settle(1, "i1001", Outcome::refused, kNoon, "x");
  (void)queue().cancel(item_type("T"), item_id("i1009"), kNoon);
  EXPECT_EQ(count(ItemState::ready), 10U);
  EXPECT_EQ(count(ItemState::claimed), 2U);
  EXPECT_EQ(count(ItemState::dispatched), 1U);
  EXPECT_EQ(count(ItemState::dead), 1U);
  EXPECT_EQ(count(ItemState::cancelled), 1U);
  EXPECT_EQ(queue().summary(item_type("T"))->oldest_due, kNoon);
  EXPECT_EQ(queue().summary(item_type("unknown"))->oldest_due, std::nullopt);
}

TEST_P(QueueSuite, forgets_what_was_settled_long_ago) {
  put_many("i", 5, kNoon);
  claim(1, 4);
  for (int i = 0; i < 3; ++i) {
    settle(1, "i" + std::to_string(1'000 + i), Outcome::done, kNoon + Seconds{i});
  }
  const auto forget = [&](Instant before, std::size_t limit) {
    return queue().forget(item_type("T"), before, limit).value_or(999);
  };
  EXPECT_EQ(forget(kNoon, 10), 0U);
  EXPECT_EQ(forget(kNoon + Seconds{2}, 1), 1U);
  EXPECT_EQ(forget(kNoon + Seconds{2}, 10), 1U);
  EXPECT_EQ(count(ItemState::dispatched), 1U);
  EXPECT_EQ(forget(kNoon + std::chrono::days{900}, 10), 1U);
  EXPECT_EQ(count(ItemState::claimed), 1U);
  EXPECT_EQ(count(ItemState::ready), 1U);
  EXPECT_EQ(put(new_item("T", "i1000", kNoon)).result, EnqueueResult::created);
}

TEST_P(QueueSuite, lists_what_is_dead_the_newest_first) {
  put_many("i", 6, kNoon);
  put(new_item("U", "other", kNoon));
  claim(1, 6);
  settle(1, "i1000", Outcome::refused, kNoon + Seconds{1}, "no such account");
  settle(1, "i1003", Outcome::refused, kNoon + Seconds{2}, "too late");
  settle(1, "i1001", Outcome::refused, kNoon + Seconds{2}, "too much");
  settle(1, "i1002", Outcome::done, kNoon + Seconds{3});
  settle(1, "i1004", Outcome::failed, kNoon + Seconds{3}, "again", kNoon + Seconds{4});
  const auto page = [&](std::optional<DeadPlace> after, std::size_t limit) {
    const Result<std::vector<DeadItem>> items = queue().dead(item_type("T"), after, limit);
    EXPECT_TRUE(items);
    return items.value_or(std::vector<DeadItem>{});
  };
  const auto names = [](const std::vector<DeadItem>& items) {
    std::vector<std::string> found;
    for (const DeadItem& item : items) found.push_back(item.id.str());
    return found;
  };
  const std::vector<DeadItem> first = page(std::nullopt, 2);
  ASSERT_EQ(names(first), (std::vector<std::string>{"i1001", "i1003"}));
  EXPECT_EQ(first[0].died, kNoon + Seconds{2});
  EXPECT_EQ(first[0].scheduled, kNoon);
  EXPECT_EQ(first[0].attempts, 1);
  EXPECT_EQ(first[0].last_error, "too much");
  const DeadPlace end{.died = first[1].died, .id = first[1].id};
  EXPECT_EQ(names(page(end, 2)), (std::vector<std::string>{"i1000"}));
  harness().reopen();
  EXPECT_EQ(page(std::nullopt, 9).size(), 3U);

  EXPECT_TRUE(queue().redrive(item_type("T"), item_id("i1003"), kNoon + Seconds{5}));
  EXPECT_EQ(names(page(std::nullopt, 9)), (std::vector<std::string>{"i1001", "i1000"}));
  // i1003 has no retries left with a limit of none: it dies when it is to be claimed.
  EXPECT_TRUE(claim(1, 10, kNoon + Seconds{6}, 0).items.empty());
  EXPECT_EQ(names(page(std::nullopt, 9)),
            (std::vector<std::string>{"i1003", "i1004", "i1001", "i1000"}));
  EXPECT_EQ(queue().forget(item_type("T"), kNoon + Seconds{3}, 100).value_or(0), 2U);
  EXPECT_EQ(names(page(std::nullopt, 9)), (std::vector<std::string>{"i1003", "i1004"}));
  EXPECT_TRUE(queue().dead(item_type("none"), std::nullopt, 9)->empty());
}

TEST_P(QueueSuite, keeps_everything_over_a_restart) {
  put_many("i", 6, kNoon);
  claim(3, 4);
  settle(3, "i1000", Outcome::done);
  settle(3, "i1001", Outcome::failed, kNoon, "x", kNoon + Seconds{50});
  harness().reopen();
  EXPECT_EQ(count(ItemState::ready), 3U);
  EXPECT_EQ(count(ItemState::claimed), 2U);
  EXPECT_EQ(count(ItemState::dispatched), 1U);
  EXPECT_EQ(view("i1000").audit.size(), 3U);
  EXPECT_FALSE(queue().claim({.type = item_type("T"), .token = 2, .limit = 1}, kNoon))
      << "tokens never go back";
  const Claim taken = claim(4, 10);
  EXPECT_EQ(ids(taken), (std::vector<std::string>{"i1002", "i1003", "i1004", "i1005"}));
  EXPECT_EQ(taken.items[0].context, R"({"a":1})");
  EXPECT_EQ(taken.next_due, kNoon + Seconds{50});
}

TEST_P(QueueSuite, keeps_large_contexts_and_cuts_long_details) {
  const std::string large = "{\"x\":\"" + std::string(1 << 20, 'y') + "\"}";
  put(new_item("T", "a", kNoon, large));
  EXPECT_EQ(claim(1, 1).items.at(0).context, large);
  settle(1, "a", Outcome::failed, kNoon, std::string(100'000, 'z'), kNoon);
  EXPECT_EQ(view("a").last_error, std::string(kDetailBytesMax, 'z'));
}

// A backend may remember where the next claim begins; what comes in before that must be found.
TEST_P(QueueSuite, claims_what_comes_in_before_what_was_claimed) {
  put_many("late", 3, kNoon + Seconds{10});
  EXPECT_EQ(claim(1, 10, kNoon + Seconds{10}).items.size(), 3U);
  put(new_item("T", "early", kNoon + Seconds{1}), kNoon + Seconds{10});
  EXPECT_EQ(ids(claim(1, 10, kNoon + Seconds{11})), std::vector<std::string>{"early"});
  ASSERT_TRUE(settle(1, "late1001", Outcome::give_back, kNoon + Seconds{11}));
  ASSERT_TRUE(settle(1, "late1000", Outcome::refused, kNoon + Seconds{11}));
  ASSERT_TRUE(queue().redrive(item_type("T"), item_id("late1000"), kNoon + Seconds{5}));
  EXPECT_EQ(ids(claim(1, 10, kNoon + Seconds{12})),
            (std::vector<std::string>{"late1000", "late1001"}));
}

TEST_P(LeaseSuite, has_one_holder_at_a_time) {
  const ItemType type = item_type("T");
  const auto acquire = [&](std::string_view node, Instant now) {
    return leases().acquire(lease_request(node, type), now).value();
  };
  const std::optional<Lease> first = acquire("a", kNoon);
  ASSERT_TRUE(first && first->fresh);
  EXPECT_FALSE(acquire("b", kNoon + Seconds{4}));
  const std::optional<Lease> renewed = acquire("a", kNoon + Seconds{4});
  ASSERT_TRUE(renewed);
  EXPECT_EQ(renewed->token, first->token);
  EXPECT_FALSE(renewed->fresh);
  EXPECT_FALSE(acquire("b", kNoon + Seconds{8}));
  EXPECT_EQ(leases().view(type, kNoon + Seconds{8}).value().holder, "a");
  EXPECT_EQ(leases().view(type, kNoon + Seconds{9}).value().holder, std::nullopt);
  const std::optional<Lease> next = acquire("b", kNoon + Seconds{9});
  ASSERT_TRUE(next && next->fresh);
  EXPECT_GT(next->token, first->token);
  EXPECT_TRUE(leases().acquire(lease_request("a", item_type("U")), kNoon).value());
}

TEST_P(LeaseSuite, goes_on_with_its_token_when_nobody_came_meanwhile) {
  const std::optional<Lease> first = *leases().acquire(lease_request("a"), kNoon);
  const std::optional<Lease> late = *leases().acquire(lease_request("a"), kNoon + Seconds{50});
  ASSERT_TRUE(late);
  EXPECT_FALSE(late->fresh);
  EXPECT_EQ(late->token, first->token);
  EXPECT_FALSE(*leases().acquire(lease_request("b"), kNoon + Seconds{54}));
  const std::optional<Lease> next = *leases().acquire(lease_request("b"), kNoon + Seconds{55});
  ASSERT_TRUE(next && next->fresh);
  EXPECT_GT(next->token, first->token);
  EXPECT_FALSE(*leases().acquire(lease_request("a"), kNoon + Seconds{56}));
}

TEST_P(LeaseSuite, hands_a_pause_on_to_the_next_holder) {
  const ItemType type = item_type("T");
  LeaseRequest request = lease_request("a");
  request.paused_until = kNoon + Seconds{90};  // of who does not hold it yet: means nothing
  ASSERT_TRUE(*leases().acquire(request, kNoon));
  EXPECT_EQ(leases().view(type, kNoon).value().paused_until, Instant{});
  request.paused_until = kNoon + Seconds{60};
  const std::optional<Lease> renewed = *leases().acquire(request, kNoon + Seconds{1});
  EXPECT_EQ(renewed->paused_until, kNoon + Seconds{60});
  EXPECT_EQ(leases().view(type, kNoon).value().paused_until, kNoon + Seconds{60});
  const std::optional<Lease> next = *leases().acquire(lease_request("b"), kNoon + Seconds{10});
  EXPECT_EQ(next->paused_until, kNoon + Seconds{60});
  ASSERT_TRUE(*leases().acquire(lease_request("b"), kNoon + Seconds{11}));
  EXPECT_EQ(leases().view(type, kNoon + Seconds{11}).value().paused_until, Instant{});
}

TEST_P(LeaseSuite, can_be_given_back_by_its_holder_only) {
  const ItemType type = item_type("T");
  const std::optional<Lease> first = *leases().acquire(lease_request("a"), kNoon);
  ASSERT_TRUE(leases().release(type, "b"));
  EXPECT_FALSE(*leases().acquire(lease_request("b"), kNoon));
  ASSERT_TRUE(leases().release(type, "a"));
  const std::optional<Lease> next = *leases().acquire(lease_request("b"), kNoon);
  ASSERT_TRUE(next);
  EXPECT_GT(next->token, first->token);
}

TEST_P(LeaseSuite, counts_tokens_on_after_a_restart) {
  const std::optional<Lease> first = *leases().acquire(lease_request("a"), harness().now());
  harness().reopen();
  const std::optional<Lease> next =
      *leases().acquire(lease_request("b"), harness().now() + Seconds{60});
  ASSERT_TRUE(next);
  EXPECT_GT(next->token, first->token);
}

TEST_P(ItemTypeSuite, keeps_settings_with_their_history) {
  const ItemType type = item_type("PAYMENT");
  core::ItemTypeSettings settings{
      .batch_size = 7,
      .max_per_second = 50,
      .sink = {.kind = "http",
               .document = R"({"type":"http","url":"http://x/y","secrets":["0123456789abcdef"]})"}};
  const core::ItemTypeSettings before = settings;
  const Result<ItemTypeRecord> first = types().put(type, 0, settings, kNoon);
  ASSERT_TRUE(first) << first.error().what;
  EXPECT_EQ(first->version, 1);
  const std::uint64_t revision = types().revision().value();
  EXPECT_EQ(types().put(type, 0, {}, kNoon).error().kind, ErrorKind::conflict);
  settings.enabled = false;
  settings.max_per_second.reset();
  ASSERT_TRUE(types().put(type, 1, settings, kNoon + Seconds{1}));
  EXPECT_GT(types().revision().value(), revision);
  ASSERT_TRUE(types().put(item_type("INVOICE"), 0, {}, kNoon));
  EXPECT_EQ((*types().find(type))->settings, settings);
  EXPECT_FALSE(*types().find(item_type("none")));
  const std::vector<ItemTypeRecord> all = types().list().value();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].type.str(), "INVOICE");
  const std::vector<ItemTypeRecord> history = types().history(type, 10).value();
  ASSERT_EQ(history.size(), 2U);
  EXPECT_EQ(history[0].version, 2);
  EXPECT_EQ(history[1].settings, before);
  EXPECT_EQ(history[1].changed, kNoon);
  EXPECT_EQ(types().history(type, 1).value().size(), 1U);
  harness().reopen();
  EXPECT_EQ((*types().find(type))->version, 2);
}

TEST_P(ItemTypeSuite, keeps_a_sink_as_it_was_written) {
  const ItemType type = item_type("INVOICE");
  core::ItemTypeSettings settings;
  settings.sink = {
      .kind = "fax",
      .document = R"({"type":"fax","z": {"line": 7, "a":[1.50]}, "pins":["na\u00efve ï"]})"};
  ASSERT_TRUE(types().put(type, 0, settings, kNoon));
  EXPECT_EQ((*types().find(type))->settings, settings);
  harness().reopen();
  EXPECT_EQ(types().list().value().at(0).settings, settings);
  settings.sink = core::ItemTypeSettings().sink;
  ASSERT_TRUE(types().put(type, 1, settings, kNoon));
  EXPECT_EQ((*types().find(type))->settings, settings);
}

}  // namespace penstock::store::conformance
