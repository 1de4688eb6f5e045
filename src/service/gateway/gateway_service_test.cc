// What the gateway asks its store, how it answers, and what it counts.
#include "service/gateway/gateway_service.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/test_instants.h"
#include "service/testing/answer.h"
#include "service/testing/retention_clock.h"

namespace penstock::service {
namespace {

// Takes all of user 1, limits user 2, does not know user 3; fails when it is told to.
class FakeQuotas final : public store::QuotaStore {
 public:
  Result<core::Quota> put(core::UserId, const core::QuotaRule& rule,
                          std::optional<Instant>) override {
    return core::begin_quota(rule, kNoon);
  }
  Result<std::optional<core::Quota>> find(core::UserId user) override {
    if (user.raw == 3) return std::nullopt;
    return core::Quota{};
  }
  Result<bool> remove(core::UserId user) override { return user.raw != 3; }

  std::vector<Result<store::Sent>> send(std::span<const store::Send> sends,
                                        std::optional<Instant> now) override {
    std::unique_lock lock(mutex_);
    entered_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !held_; });
    EXPECT_EQ(now, std::nullopt) << "the store's own clock decides";
    std::vector<Result<store::Sent>> answers;
    for (const store::Send& send : sends) {
      asked.push_back(send);
      if (down) {
        answers.push_back(fail(ErrorKind::unavailable, "down"));
      } else if (send.user.raw == 1) {
        answers.push_back(store::Sent{.result = store::SendResult::sent, .id = send.id});
      } else if (send.user.raw == 2) {
        answers.push_back(
            store::Sent{.result = store::SendResult::limited, .retry_after = Seconds{9}});
      } else {
        answers.push_back(store::Sent{.result = store::SendResult::unknown_user});
      }
    }
    return answers;
  }
  std::vector<Result<store::Charged>> charge(std::span<const store::Charge> charges,
                                             std::optional<Instant>) override {
    return std::vector<Result<store::Charged>>(charges.size(),
                                               fail(ErrorKind::unavailable, "not of this test"));
  }
  Result<void> give_back(std::span<const store::GiveBack>) override { return {}; }
  Result<void> record(std::span<const store::UsageDelta> deltas) override {
    const std::lock_guard lock(mutex_);
    if (down) return fail(ErrorKind::unavailable, "down");
    for (const store::UsageDelta& delta : deltas) {
      usage_[{delta.user, delta.minute}] += delta.counts;
    }
    return {};
  }
  Result<std::vector<store::UsagePoint>> usage(core::UserId user, Instant from, Instant to,
                                               std::size_t limit) override {
    const std::lock_guard lock(mutex_);
    std::vector<store::UsagePoint> points;
    for (const auto& [place, counts] : usage_) {
      if (place.first != user || place.second < from || place.second >= to) continue;
      if (points.size() < limit) points.push_back({.minute = place.second, .counts = counts});
    }
    return points;
  }
  Result<std::vector<store::LimitedUser>> top_limited(Instant, Instant, std::size_t) override {
    const std::lock_guard lock(mutex_);
    std::vector<store::LimitedUser> users;
    for (const auto& [place, counts] : usage_) {
      users.push_back({.user = place.first, .limited = counts.limited});
    }
    return users;
  }
  Result<store::QuotaSweep> forget(Instant keys_before, Instant usage_before,
                                   std::size_t) override {
    const std::lock_guard lock(mutex_);
    forgot_.emplace_back(keys_before, usage_before);
    changed_.notify_all();
    return store::QuotaSweep{};
  }

  void hold() {
    const std::lock_guard lock(mutex_);
    held_ = true;
  }
  void release() {
    const std::lock_guard lock(mutex_);
    held_ = false;
    changed_.notify_all();
  }
  void wait_entered() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return entered_; });
  }
  std::pair<Instant, Instant> wait_forgot() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !forgot_.empty(); });
    return forgot_.front();
  }

  std::atomic<bool> down{false};
  std::vector<store::Send> asked;  // read when no call is under way

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
  bool entered_ = false;
  std::map<std::pair<core::UserId, Instant>, store::UsageCounts> usage_;
  std::vector<std::pair<Instant, Instant>> forgot_;
};

class NoQueue final : public store::QueueStore {
 public:
  std::vector<Result<store::Enqueued>> enqueue(std::span<const store::NewItem>,
                                               std::optional<Instant>) override {
    return {};
  }
  Result<store::Claim> claim(const store::ClaimRequest&, std::optional<Instant>) override {
    return fail(ErrorKind::unavailable, "not part of this test");
  }
  Result<std::vector<bool>> settle(const store::SettleRequest&, std::optional<Instant>) override {
    return fail(ErrorKind::unavailable, "not part of this test");
  }
  Result<store::ItemView> cancel(const ItemType&, const ItemId&, std::optional<Instant>) override {
    return fail(ErrorKind::unavailable, "not part of this test");
  }
  Result<store::ItemView> redrive(const ItemType&, const ItemId&, std::optional<Instant>) override {
    return fail(ErrorKind::unavailable, "not part of this test");
  }
  Result<std::optional<store::ItemView>> find(const ItemType& type, const ItemId& id) override {
    if (type != store::message_item_type() || id != known) return std::nullopt;
    return store::ItemView{.type = type, .id = id, .state = store::ItemState::dispatched};
  }
  Result<store::QueueSummary> summary(const ItemType&) override { return store::QueueSummary{}; }
  Result<std::vector<store::DeadItem>> dead(const ItemType&, const std::optional<store::DeadPlace>&,
                                            std::size_t) override {
    return std::vector<store::DeadItem>{};
  }
  Result<std::size_t> forget(const ItemType&, Instant, std::size_t) override { return 0; }

  ItemId known;
};

class OneType final : public store::ItemTypeStore {
 public:
  Result<store::ItemTypeRecord> put(const ItemType& type, std::int64_t expected,
                                    const core::ItemTypeSettings& settings,
                                    std::optional<Instant>) override {
    EXPECT_EQ(type, store::message_item_type());
    EXPECT_EQ(expected, 0);
    EXPECT_EQ(settings.sink.kind, "log");
    ++puts;
    if (taken) return fail(ErrorKind::conflict, "another node was faster");
    return store::ItemTypeRecord{.type = type, .version = 1, .settings = settings};
  }
  Result<std::optional<store::ItemTypeRecord>> find(const ItemType& type) override {
    ++finds;
    if (!there) return std::nullopt;
    store::ItemTypeRecord record{.type = type, .version = 1, .settings = {}};
    record.settings.sink.kind = "http";
    return record;
  }
  Result<std::vector<store::ItemTypeRecord>> list() override {
    return std::vector<store::ItemTypeRecord>{};
  }
  Result<std::vector<store::ItemTypeRecord>> history(const ItemType&, std::size_t) override {
    return std::vector<store::ItemTypeRecord>{};
  }
  Result<std::uint64_t> revision() override { return 1; }

  bool there = true;
  bool taken = false;
  int puts = 0;
  int finds = 0;
};

std::string context_of(const core::SendCall& call, const ItemId& id, Instant) {
  return id.str() + " " + call.message;
}

class GatewayServiceTest : public testing::Test {
 protected:
  static GatewayOptions quiet() {
    GatewayOptions options;
    options.usage_interval = std::chrono::hours{1};
    options.retention_interval = std::chrono::hours{1};
    return options;
  }
  void start(GatewayOptions options = quiet()) {
    service_ = std::make_unique<GatewayService>(options,
                                                GatewayPorts{.quotas = quotas_,
                                                             .queue = queue_,
                                                             .types = types_,
                                                             .clock = clock_,
                                                             .wake = [this] { ++woken_; },
                                                             .context = context_of,
                                                             .retention_clock = own_time_},
                                                log_, metrics_);
  }
  static core::SendCall call(int user, std::string message = "Hello", std::int64_t segments = 1) {
    return {.user = core::UserId{user},
            .message = std::move(message),
            .size = {.encoding = {}, .units = 1, .segments = segments}};
  }
  std::future<GatewayService::Answers> begin(std::vector<core::SendCall> calls) {
    auto promise = std::make_shared<std::promise<GatewayService::Answers>>();
    service_->send(std::move(calls), [promise](GatewayService::Answers answers) {
      promise->set_value(std::move(answers));
    });
    return promise->get_future();
  }
  double metric(const std::string& line) {
    const std::string text = metrics_.prometheus_text();
    const std::size_t at = text.find("\n" + line + " ");
    return at == text.npos ? -1 : std::stod(text.substr(at + line.size() + 2));
  }

  SimulatedClock clock_{kNoon};
  Log log_{clock_, STDERR_FILENO, LogLevel::off, LogFormat::text};
  runtime::Metrics metrics_;
  FakeQuotas quotas_;
  NoQueue queue_;
  OneType types_;
  std::atomic<int> woken_{0};
  store::RetentionClock* own_time_ = nullptr;
  std::unique_ptr<GatewayService> service_;
};

TEST_F(GatewayServiceTest, gives_each_message_an_id_and_its_context) {
  start();
  const auto answers = begin({call(1, "a"), call(1, "b")}).get();
  ASSERT_EQ(answers.size(), 2U);
  ASSERT_EQ(quotas_.asked.size(), 2U);
  EXPECT_NE(quotas_.asked[0].id, quotas_.asked[1].id);
  for (const store::Send& send : quotas_.asked) {
    EXPECT_EQ(core::user_of_message(send.id.str()), core::UserId{1});
    EXPECT_EQ(send.cost, 1);
    EXPECT_TRUE(send.context.starts_with(send.id.str()));
  }
  EXPECT_EQ(answers[0]->id, quotas_.asked[0].id);
  EXPECT_EQ(woken_, 1);
}

TEST_F(GatewayServiceTest, ids_of_many_threads_are_distinct) {
  start();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([this] {
        for (int j = 0; j < 50; ++j) begin({call(1), call(1)}).get();
      });
    }
  }
  std::set<std::string> ids;
  for (const store::Send& send : quotas_.asked) ids.insert(send.id.str());
  EXPECT_EQ(ids.size(), 400U);
}

TEST_F(GatewayServiceTest, costs_segments_when_it_is_told_to) {
  GatewayOptions options = quiet();
  options.cost = core::MessageCost::segments;
  start(options);
  begin({call(1, "long", 3)}).get();
  EXPECT_EQ(quotas_.asked.at(0).cost, 3);
}

TEST_F(GatewayServiceTest, counts_what_came_of_each_and_gathers_what_was_refused) {
  start();
  begin({call(1), call(2), call(3), call(2)}).get();
  quotas_.down = true;
  begin({call(1)}).get();
  EXPECT_EQ(woken_, 1);
  EXPECT_EQ(metric("gateway_messages_total{outcome=\"sent\"}"), 1);
  EXPECT_EQ(metric("gateway_messages_total{outcome=\"limited\"}"), 2);
  EXPECT_EQ(metric("gateway_messages_total{outcome=\"unknown_user\"}"), 1);
  EXPECT_EQ(metric("gateway_messages_total{outcome=\"failed\"}"), 1);
  const UsageRange range{.from = kNoon - core::Minutes{5}, .to = kNoon + core::Minutes{5}};
  const auto usage = [&](int user) {
    return answer_of<Result<UsageBuckets>>(
        [&](auto done) { service_->usage(core::UserId{user}, range, std::move(done)); });
  };
  EXPECT_FALSE(usage(2)) << "the store is down";
  quotas_.down = false;
  EXPECT_EQ(usage(2)->at(0).counts, (store::UsageCounts{.limited = 2}));
  EXPECT_EQ(usage(1)->at(0).counts, (store::UsageCounts{.failed = 1})) << "it was not forgotten";
  EXPECT_TRUE(usage(3)->empty()) << "anyone could make up users";
}

TEST_F(GatewayServiceTest, writes_what_was_refused_when_it_stops) {
  start();
  begin({call(2)}).get();
  service_->stop();
  EXPECT_EQ(quotas_.usage(core::UserId{2}, kNoon, kNoon + Seconds{1}, 9)->size(), 1U);
}

TEST_F(GatewayServiceTest, adds_minutes_up_to_buckets) {
  start();
  std::vector<store::UsageDelta> deltas;
  for (int i = 0; i < 7; ++i) {
    deltas.push_back({.user = core::UserId{9},
                      .minute = kNoon + core::Minutes{i},
                      .counts = {.sent = 1, .limited = i}});
  }
  ASSERT_TRUE(quotas_.record(deltas));
  const auto buckets = answer_of<Result<UsageBuckets>>([&](auto done) {
    service_->usage(core::UserId{9},
                    {.from = kNoon, .to = kNoon + core::Minutes{60}, .bucket = core::Minutes{5}},
                    std::move(done));
  });
  ASSERT_EQ(buckets->size(), 2U);
  EXPECT_EQ(buckets->at(0),
            (store::UsagePoint{.minute = kNoon, .counts = {.sent = 5, .limited = 10}}));
  EXPECT_EQ(buckets->at(1), (store::UsagePoint{.minute = kNoon + core::Minutes{5},
                                               .counts = {.sent = 2, .limited = 11}}));
}

TEST_F(GatewayServiceTest, a_full_queue_refuses_at_once) {
  GatewayOptions options = quiet();
  options.path.queue_max = 2;
  start(options);
  quotas_.hold();
  auto first = begin({call(1)});
  quotas_.wait_entered();
  auto second = begin({call(1), call(1)});
  const auto refused = begin({call(1)}).get();
  EXPECT_EQ(refused.at(0).error().kind, ErrorKind::overloaded);
  quotas_.release();
  EXPECT_TRUE(first.get().at(0));
  EXPECT_EQ(second.get().size(), 2U);
}

TEST_F(GatewayServiceTest, shows_a_message_that_is_there) {
  start();
  const auto find = [&](const ItemId& id) {
    return answer_of<Result<MessageView>>(
        [&](auto done) { service_->find_message(id, std::move(done)); });
  };
  queue_.known = core::make_message_id(kNoon, core::UserId{7}, 1, 2);
  const auto view = find(queue_.known);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->user.raw, 7);
  EXPECT_EQ(view->provider, "http");
  EXPECT_EQ(find(core::make_message_id(kNoon, core::UserId{7}, 1, 3)).error().kind,
            ErrorKind::not_found);
  EXPECT_EQ(find(ItemId::trusted("p-1")).error().kind, ErrorKind::not_found);
}

TEST_F(GatewayServiceTest, says_when_there_is_no_config) {
  start();
  const auto find = [&](int user) {
    return answer_of<Result<core::Quota>>(
        [&](auto done) { service_->find_config(core::UserId{user}, std::move(done)); });
  };
  const auto remove = [&](int user) {
    return answer_of<Result<void>>(
        [&](auto done) { service_->remove_config(core::UserId{user}, "r", std::move(done)); });
  };
  EXPECT_TRUE(find(1));
  EXPECT_EQ(find(3).error().kind, ErrorKind::not_found);
  EXPECT_TRUE(remove(1));
  EXPECT_EQ(remove(3).error().kind, ErrorKind::not_found);
}

TEST_F(GatewayServiceTest, the_first_config_makes_the_type_of_messages) {
  start();
  const auto put = [&] {
    return answer_of<Result<core::Quota>>([&](auto done) {
      service_->put_config(core::UserId{1}, {.rate_limit = 5, .window = core::Minutes{1}}, "r",
                           std::move(done));
    });
  };
  types_.there = false;
  types_.taken = true;  // by another node, between the look and the put
  EXPECT_TRUE(put());
  EXPECT_EQ(types_.puts, 1);
  EXPECT_TRUE(put());
  EXPECT_EQ(types_.finds, 1) << "known from then on";
}

TEST_F(GatewayServiceTest, forgets_keys_and_usage_by_their_age) {
  GatewayOptions options = quiet();
  options.retention_interval = Millis{1};
  options.usage_retention = std::chrono::days{3};
  start(options);
  const auto [keys, usage] = quotas_.wait_forgot();
  EXPECT_EQ(keys, kNoon - std::chrono::hours{24});
  EXPECT_EQ(usage, kNoon - std::chrono::days{3});
}

TEST_F(GatewayServiceTest, forgets_by_the_stores_own_time) {
  FakeRetentionClock own;
  own.old = kNoon - std::chrono::days{9};
  own_time_ = &own;
  GatewayOptions options = quiet();
  options.retention_interval = Millis{1};
  start(options);
  const auto [keys, usage] = quotas_.wait_forgot();
  EXPECT_EQ(keys, kNoon - std::chrono::days{9});
  EXPECT_EQ(usage, kNoon - std::chrono::days{9});
  service_->stop();
}

TEST_F(GatewayServiceTest, nothing_is_answered_at_once_and_a_stopped_service_refuses) {
  start();
  EXPECT_TRUE(begin({}).get().empty());
  service_->stop();
  EXPECT_EQ(begin({call(1)}).get().at(0).error().kind, ErrorKind::overloaded);
}

TEST(UsageLog, has_room_for_so_many_and_no_more) {
  FakeQuotas quotas;
  UsageLog log(quotas);
  for (std::size_t i = 0; i < UsageLog::kEntriesMax; ++i) {
    ASSERT_TRUE(log.add(core::UserId{static_cast<std::int32_t>(i)}, kNoon, {.limited = 1}));
  }
  EXPECT_FALSE(log.add(core::UserId{-1}, kNoon, {.limited = 1}));
  EXPECT_TRUE(log.add(core::UserId{5}, kNoon + Seconds{59}, {.limited = 1})) << "it is there";
  quotas.down = true;
  EXPECT_FALSE(log.flush());
  quotas.down = false;
  ASSERT_TRUE(log.flush());
  EXPECT_TRUE(log.add(core::UserId{-1}, kNoon, {.limited = 1}));
  EXPECT_EQ(quotas.usage(core::UserId{5}, kNoon, kNoon + Seconds{1}, 9)->at(0).counts.limited, 2);
}

}  // namespace
}  // namespace penstock::service
