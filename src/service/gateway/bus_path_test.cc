// What becomes of a message on its way to a bus: what is charged, given back, claimed and answered.
#include "service/gateway/bus_path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <future>
#include <map>
#include <optional>

#include "base/test_instants.h"
#include "core/gateway/message.h"

namespace penstock::service {
namespace {

using sink::BusOutcome;
using store::KeyState;
using store::SendResult;

// Users 1 to 9, with a limit of 5 in one window that never ends.
class FakeGate final : public store::QuotaGate {
 public:
  std::vector<Result<store::Charged>> charge(std::span<const store::Charge> charges,
                                             std::optional<Instant>) override {
    const std::lock_guard lock(mutex);
    std::vector<Result<store::Charged>> answers;
    for (const store::Charge& charge : charges) {
      if (down) {
        answers.push_back(fail(ErrorKind::unavailable, "down"));
      } else if (charge.user.raw > 9) {
        answers.push_back(store::Charged{.result = store::ChargeResult::unknown_user});
      } else if (counts[charge.user] + charge.cost > 5) {
        answers.push_back(
            store::Charged{.result = store::ChargeResult::limited, .retry_after = Seconds{9}});
      } else {
        counts[charge.user] += charge.cost;
        answers.push_back(store::Charged{.window = 77});
      }
    }
    return answers;
  }
  Result<void> give_back(std::span<const store::GiveBack> charges) override {
    const std::lock_guard lock(mutex);
    if (down) return fail(ErrorKind::unavailable, "down");
    for (const store::GiveBack& charge : charges) {
      EXPECT_EQ(charge.window, 77);
      counts[charge.user] -= charge.cost;
    }
    return {};
  }
  std::int64_t count(int user) {
    const std::lock_guard lock(mutex);
    return counts[{user}];
  }

  std::mutex mutex;
  bool down = false;
  std::map<core::UserId, std::int64_t> counts;
};

class FakeKeys final : public store::SendKeys {
 public:
  struct Key {
    KeyState state = KeyState::free;
    ItemId id;
    std::int64_t claim = 0;
  };

  Result<std::vector<store::KeyView>> look(std::span<const store::KeyClaim> claims, Millis,
                                           std::optional<Instant>) override {
    const std::lock_guard lock(mutex);
    if (down) return fail(ErrorKind::unavailable, "down");
    std::vector<store::KeyView> out;
    for (const store::KeyClaim& claim : claims) out.push_back(view(claim));
    if (after_look) after_look();
    return out;
  }
  Result<std::vector<store::KeyView>> claim(std::span<const store::KeyClaim> claims, Millis,
                                            std::optional<Instant>) override {
    const std::lock_guard lock(mutex);
    if (claim_fails) return fail(ErrorKind::timeout, "slow");
    std::vector<store::KeyView> out;
    for (const store::KeyClaim& claim : claims) {
      store::KeyView seen = view(claim);
      if (seen.state == KeyState::free || seen.state == KeyState::left) {
        Key& key = keys[claim.key];
        if (seen.state == KeyState::free) key.id = claim.id;
        key.state = KeyState::pending;
        key.claim = ++claims_;
        seen.id = key.id;
        seen.claim = key.claim;
      }
      out.push_back(seen);
    }
    return out;
  }
  Result<std::vector<bool>> settle(std::span<const store::KeySettlement> ends,
                                   std::optional<Instant>) override {
    const std::lock_guard lock(mutex);
    if (down) return fail(ErrorKind::unavailable, "down");
    std::vector<bool> out;
    for (const store::KeySettlement& end : ends) {
      Key& key = keys[end.key];
      out.push_back(key.claim == end.claim);
      if (!out.back()) continue;
      key.state = end.end == store::KeyEnd::accepted  ? KeyState::accepted
                  : end.end == store::KeyEnd::dropped ? KeyState::free
                                                      : KeyState::left;
    }
    return out;
  }
  KeyState state(const std::string& key) {
    const std::lock_guard lock(mutex);
    return keys[key].state;
  }

  std::mutex mutex;
  bool down = false;
  bool claim_fails = false;
  std::function<void()> after_look;
  std::map<std::string, Key> keys;

 private:
  store::KeyView view(const store::KeyClaim& claim) {
    const Key& key = keys[claim.key];
    return {.state = key.state, .id = key.state == KeyState::free ? ItemId() : key.id};
  }
  std::int64_t claims_ = 0;
};

// Answers when it is told to.
class FakeBus final : public sink::MessageBus {
 public:
  void publish(sink::BusMessage&& message, Done done) override {
    const std::lock_guard lock(mutex_);
    published_.push_back(std::move(message));
    waiting_.push_back(std::move(done));
    changed_.notify_all();
  }
  // The next message that is published, and what becomes of it.
  sink::BusMessage land(BusOutcome outcome) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !waiting_.empty(); });
    Done done = std::move(waiting_.front());
    waiting_.pop_front();
    sink::BusMessage message = std::move(published_.front());
    published_.pop_front();
    lock.unlock();
    done(outcome);
    return message;
  }
  void wait_for(std::size_t messages) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_.size() >= messages; });
  }
  std::size_t waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<sink::BusMessage> published_;
  std::deque<Done> waiting_;
};

class NoUsage final : public store::QuotaStore {
 public:
  Result<core::Quota> put(core::UserId, const core::QuotaRule&, std::optional<Instant>) override {
    return core::Quota{};
  }
  Result<std::optional<core::Quota>> find(core::UserId) override { return std::nullopt; }
  Result<bool> remove(core::UserId) override { return false; }
  std::vector<Result<store::Sent>> send(std::span<const store::Send>,
                                        std::optional<Instant>) override {
    return {};
  }
  std::vector<Result<store::Charged>> charge(std::span<const store::Charge>,
                                             std::optional<Instant>) override {
    return {};
  }
  Result<void> give_back(std::span<const store::GiveBack>) override { return {}; }
  Result<void> record(std::span<const store::UsageDelta> deltas) override {
    for (const store::UsageDelta& delta : deltas) total += delta.counts;
    return {};
  }
  Result<std::vector<store::UsagePoint>> usage(core::UserId, Instant, Instant,
                                               std::size_t) override {
    return std::vector<store::UsagePoint>{};
  }
  Result<std::vector<store::LimitedUser>> top_limited(Instant, Instant, std::size_t) override {
    return std::vector<store::LimitedUser>{};
  }
  Result<store::QuotaSweep> forget(Instant, Instant, std::size_t) override {
    return store::QuotaSweep{};
  }

  store::UsageCounts total;
};

class BusPathTest : public testing::Test {
 protected:
  using Answers = std::future<SendPath::Answers>;

  void SetUp() override { open({}); }
  void open(const SendPathOptions& options) {
    path_.reset();
    path_ = std::make_unique<BusPath>(
        options, Seconds{7}, BusPorts{.gate = gate_, .keys = keys_, .bus = bus_, .clock = clock_},
        tally_, histogram_, log_, own_metrics_.emplace_back());
  }

  NewMessage message(int user, std::string key = {}, std::string text = "Hello") {
    NewMessage out;
    out.call.user = {user};
    out.call.key = std::move(key);
    out.call.digest[0] = static_cast<std::uint8_t>(text[0]);
    out.call.message = std::move(text);
    out.id = core::make_message_id(kNoon, {user}, ++drawn_, 0);
    out.accepted = kNoon;
    return out;
  }
  Answers send(std::vector<NewMessage> messages) {
    auto told = std::make_shared<std::promise<SendPath::Answers>>();
    Answers out = told->get_future();
    path_->send(std::move(messages),
                [told](SendPath::Answers answers) { told->set_value(std::move(answers)); });
    return out;
  }
  Answers send(NewMessage&& one) {
    std::vector<NewMessage> messages;
    messages.push_back(std::move(one));
    return send(std::move(messages));
  }
  SendResult result(Answers answers) { return answers.get().front()->result; }
  store::UsageCounts usage() {
    EXPECT_TRUE(tally_.usage().flush());
    return usage_.total;
  }

  const SimulatedClock clock_{kNoon};
  Log log_{clock_, 2, LogLevel::off, LogFormat::text};
  runtime::Metrics metrics_;
  runtime::Histogram& histogram_ = metrics_.histogram("batch", "sizes", {1, 10});
  NoUsage usage_;
  SendTally tally_{usage_, metrics_};
  std::deque<runtime::Metrics> own_metrics_;  // one for each path
  FakeGate gate_;
  FakeKeys keys_;
  FakeBus bus_;
  std::uint64_t drawn_ = 0;
  std::unique_ptr<BusPath> path_;
};

TEST_F(BusPathTest, is_answered_by_the_report) {
  NewMessage first = message(1);
  const ItemId id = first.id;
  Answers answer = send(std::move(first));
  bus_.wait_for(1);
  EXPECT_EQ(gate_.count(1), 1) << "charged before it is published";
  EXPECT_EQ(answer.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  const sink::BusMessage published = bus_.land(BusOutcome::delivered);
  EXPECT_EQ(published.id, id);
  EXPECT_EQ(published.text, "Hello");
  const auto answers = answer.get();
  EXPECT_EQ(answers[0]->result, SendResult::sent);
  EXPECT_EQ(answers[0]->id, id);
  EXPECT_EQ(usage(), (store::UsageCounts{.sent = 1}));
}

TEST_F(BusPathTest, what_is_lost_is_given_back) {
  Answers answer = send(message(1));
  bus_.land(BusOutcome::lost);
  EXPECT_EQ(result(std::move(answer)), SendResult::unpublished);
  EXPECT_EQ(gate_.count(1), 0);
  EXPECT_EQ(usage(), (store::UsageCounts{.failed = 1}));
}

TEST_F(BusPathTest, what_nobody_knows_of_stays_charged) {
  Answers answer = send(message(1));
  bus_.land(BusOutcome::unknown);
  EXPECT_EQ(result(std::move(answer)), SendResult::unconfirmed);
  EXPECT_EQ(gate_.count(1), 1);
  EXPECT_EQ(usage(), (store::UsageCounts{.failed = 1}));
}

TEST_F(BusPathTest, what_cannot_be_given_back_stays_charged) {
  Answers answer = send(message(1));
  bus_.wait_for(1);
  gate_.down = true;
  bus_.land(BusOutcome::lost);
  EXPECT_EQ(result(std::move(answer)), SendResult::unpublished);
  EXPECT_EQ(gate_.count(1), 1);
}

TEST_F(BusPathTest, the_refused_are_not_published) {
  std::vector<NewMessage> messages;
  for (int i = 0; i < 6; ++i) messages.push_back(message(1));
  messages.push_back(message(10));
  Answers answer = send(std::move(messages));
  for (int i = 0; i < 5; ++i) bus_.land(BusOutcome::delivered);
  const auto answers = answer.get();
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(answers[i]->result, SendResult::sent);
  EXPECT_EQ(answers[5]->result, SendResult::limited);
  EXPECT_EQ(answers[5]->retry_after, Seconds{9});
  EXPECT_EQ(answers[6]->result, SendResult::unknown_user);
  EXPECT_EQ(bus_.waiting(), 0U);
  EXPECT_EQ(usage(), (store::UsageCounts{.sent = 5, .limited = 1}));
}

TEST_F(BusPathTest, a_store_that_is_away_answers_for_itself) {
  gate_.down = true;
  const auto answers = send(message(1)).get();
  ASSERT_FALSE(answers[0]);
  EXPECT_EQ(answers[0].error().kind, ErrorKind::unavailable);
}

TEST_F(BusPathTest, no_batch_waits_for_the_report_of_another) {
  std::vector<Answers> answers;
  for (int i = 1; i <= 9; ++i) {
    answers.push_back(send(message(i)));
    bus_.wait_for(static_cast<std::size_t>(i));
  }
  for (int i = 1; i <= 9; ++i) bus_.land(BusOutcome::delivered);
  for (Answers& answer : answers) EXPECT_EQ(result(std::move(answer)), SendResult::sent);
}

TEST_F(BusPathTest, a_key_is_accepted_with_its_message) {
  Answers first = send(message(1, "k"));
  bus_.wait_for(1);
  EXPECT_EQ(keys_.state("k"), KeyState::pending);
  EXPECT_EQ(result(send(message(1, "k"))), SendResult::pending);
  const ItemId id = bus_.land(BusOutcome::delivered).id;
  EXPECT_EQ(result(std::move(first)), SendResult::sent);
  EXPECT_EQ(keys_.state("k"), KeyState::accepted);
  const auto again = send(message(1, "k")).get();
  EXPECT_EQ(again[0]->result, SendResult::repeated);
  EXPECT_EQ(again[0]->id, id);
  EXPECT_EQ(gate_.count(1), 1);
}

TEST_F(BusPathTest, a_key_is_free_again_when_its_message_is_lost) {
  Answers first = send(message(1, "k"));
  bus_.land(BusOutcome::lost);
  EXPECT_EQ(result(std::move(first)), SendResult::unpublished);
  EXPECT_EQ(keys_.state("k"), KeyState::free);
  EXPECT_EQ(gate_.count(1), 0);
}

TEST_F(BusPathTest, a_key_that_was_left_goes_on_with_its_message_and_its_charge) {
  Answers first = send(message(1, "k"));
  const ItemId id = bus_.land(BusOutcome::unknown).id;
  EXPECT_EQ(result(std::move(first)), SendResult::unconfirmed);
  EXPECT_EQ(keys_.state("k"), KeyState::left);
  EXPECT_EQ(gate_.count(1), 1);
  // It is lost this time, but the first may be there.
  Answers second = send(message(1, "k"));
  EXPECT_EQ(bus_.land(BusOutcome::lost).id, id);
  EXPECT_EQ(result(std::move(second)), SendResult::unconfirmed);
  EXPECT_EQ(keys_.state("k"), KeyState::left);
  Answers third = send(message(1, "k"));
  EXPECT_EQ(bus_.land(BusOutcome::delivered).id, id);
  const auto answers = third.get();
  EXPECT_EQ(answers[0]->result, SendResult::sent);
  EXPECT_EQ(answers[0]->id, id);
  EXPECT_EQ(gate_.count(1), 1);
}

TEST_F(BusPathTest, whoever_loses_a_key_gets_its_charge_back) {
  keys_.after_look = [&] {
    keys_.keys["k"] = {.state = KeyState::accepted, .id = ItemId::trusted("m-1")};
  };
  const auto answers = send(message(1, "k")).get();
  EXPECT_EQ(answers[0]->result, SendResult::repeated);
  EXPECT_EQ(answers[0]->id.str(), "m-1");
  EXPECT_EQ(gate_.count(1), 0);
  EXPECT_EQ(bus_.waiting(), 0U);
}

TEST_F(BusPathTest, a_claim_that_may_be_there_keeps_the_charge) {
  keys_.claim_fails = true;
  const auto answers = send(message(1, "k")).get();
  ASSERT_FALSE(answers[0]);
  EXPECT_EQ(gate_.count(1), 1);
  EXPECT_EQ(bus_.waiting(), 0U);
}

TEST_F(BusPathTest, what_is_delivered_is_sent_though_its_key_cannot_be_settled) {
  Answers answer = send(message(1, "k"));
  bus_.wait_for(1);
  keys_.down = true;
  bus_.land(BusOutcome::delivered);
  EXPECT_EQ(result(std::move(answer)), SendResult::sent);
  // And what is lost stays charged: its claim stands for it.
  keys_.down = false;
  Answers lost = send(message(2, "l"));
  bus_.wait_for(1);
  keys_.down = true;
  bus_.land(BusOutcome::lost);
  EXPECT_EQ(result(std::move(lost)), SendResult::unconfirmed);
  EXPECT_EQ(gate_.count(2), 1);
}

TEST_F(BusPathTest, the_same_key_in_one_batch_is_one_message) {
  std::vector<NewMessage> messages;
  messages.push_back(message(1, "k"));
  messages.push_back(message(1, "k"));
  messages.push_back(message(1, "k", "Another"));
  Answers answer = send(std::move(messages));
  const ItemId id = bus_.land(BusOutcome::delivered).id;
  const auto answers = answer.get();
  EXPECT_EQ(answers[0]->result, SendResult::sent);
  EXPECT_EQ(answers[1]->result, SendResult::repeated);
  EXPECT_EQ(answers[1]->id, id);
  EXPECT_EQ(answers[2]->result, SendResult::different);
  EXPECT_EQ(gate_.count(1), 1);
  EXPECT_EQ(bus_.waiting(), 0U);
}

TEST_F(BusPathTest, takes_no_more_than_there_is_room_for) {
  open({.queue_max = 2});
  Answers first = send(message(1));
  Answers second = send(message(2));
  const auto refused = send(message(3)).get();
  ASSERT_FALSE(refused[0]);
  EXPECT_EQ(refused[0].error().kind, ErrorKind::overloaded);
  bus_.land(BusOutcome::delivered);
  bus_.land(BusOutcome::delivered);
  EXPECT_EQ(result(std::move(first)), SendResult::sent);
  EXPECT_EQ(result(std::move(second)), SendResult::sent);
}

TEST_F(BusPathTest, stops_when_all_is_answered) {
  Answers answer = send(message(1, "k"));
  bus_.wait_for(1);
  std::future<void> stopped = std::async(std::launch::async, [&] { path_->stop(); });
  bus_.land(BusOutcome::delivered);
  stopped.get();
  EXPECT_EQ(result(std::move(answer)), SendResult::sent);
  EXPECT_EQ(send(message(1)).get()[0].error().kind, ErrorKind::overloaded);
}

}  // namespace
}  // namespace penstock::service
