#include "engine/kafka/consumer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/kafka/testing/test_cluster.h"
#include "runtime/clocks.h"
#include "runtime/test_eventually.h"

namespace penstock::kafka {
namespace {

using Kind = Verdict::Kind;

constexpr auto kPatience = std::chrono::seconds(60);
// The mock waits nearly as long for the members there are when another joins.
constexpr Millis kSessionTimeout = Seconds{5};

std::vector<std::string> numbered(const std::string& name, int count) {
  std::vector<std::string> values;
  for (int i = 0; i < count; ++i) values.push_back(name + std::to_string(i));
  return values;
}

// A handler that judges by value and keeps what it was asked and what it took.
class Journal {
 public:
  using Judge = std::function<Kind(const std::string& value)>;

  Handler handler() {
    return [this](std::span<const IncomingMessage> messages) {
      std::vector<Verdict> verdicts;
      const std::lock_guard lock(mutex_);
      ++calls_;
      for (const IncomingMessage& message : messages) {
        const std::string value(message.value);
        const Kind kind = judge_ ? judge_(value) : Kind::ok;
        ++offered_[value];
        if (kind != Kind::retry) taken_.push_back(value);
        verdicts.push_back({.kind = kind, .reason = "because of " + value});
      }
      changed_.notify_all();
      return answered(std::move(verdicts));
    };
  }
  void judge(Judge judge) {
    const std::lock_guard lock(mutex_);
    judge_ = std::move(judge);
  }
  void wait_until(const std::function<bool(Journal&)>& condition) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kPatience, [&] { return condition(*this); }))
        << calls_ << " calls, taken " << testing::PrintToString(taken_);
  }
  void wait_taken(std::size_t count) {
    wait_until([count](Journal& each) { return each.taken_.size() >= count; });
  }
  void wait_offered(const std::string& value, int times) {
    wait_until([&](Journal& each) { return each.offered_[value] >= times; });
  }
  std::vector<std::string> taken() {
    const std::lock_guard lock(mutex_);
    return taken_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Judge judge_;                         // all guarded by mutex_
  std::map<std::string, int> offered_;  // value -> how often
  std::vector<std::string> taken_;      // not held back, in order
  int calls_ = 0;
};

class ConsumerOnCluster : public testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP()
        << "librdkafka begins its threads by thrd_create, which the thread sanitizer lacks";
#endif
    cluster_.emplace();
    cluster_->make_topic("t", 2);
    cluster_->make_topic("t.dlq", 1);
    producer_ = open_producer(*cluster_);
  }
  std::unique_ptr<Producer> open_producer(const TestCluster& cluster) {
    auto made = Producer::make(clock_, log_,
                               {.connection = cluster.connection(), .probe_interval = Millis{50}});
    EXPECT_TRUE(made) << made.error().what;
    wait_for_health(**made, true);
    return std::move(*made);
  }
  std::unique_ptr<Consumer> open(Journal& journal, Producer* dead_letters = nullptr) {
    runtime::Metrics& metrics = metrics_.emplace_back();  // of a node each
    auto made = Consumer::make(
        clock_, log_, metrics, memory_, dead_letters ? *dead_letters : *producer_,
        {.connection = cluster_->connection(), .group = "g", .session_timeout = kSessionTimeout},
        {{"t", journal.handler()}});
    EXPECT_TRUE(made) << made.error().what;
    return std::move(*made);
  }
  void wait_committed(int partition, std::int64_t offset) {
    const bool there =
        runtime::eventually([&] { return cluster_->committed("g", "t", partition) == offset; });
    ASSERT_TRUE(there) << "partition " << partition << " is at "
                       << testing::PrintToString(cluster_->committed("g", "t", partition))
                       << ", not " << offset;
  }

  const runtime::SteadyWallClock clock_;
  Log log_{clock_, 2, LogLevel::off, LogFormat::text};
  std::list<runtime::Metrics> metrics_;
  runtime::Metrics budget_metrics_;
  runtime::MemoryBudget memory_{std::size_t{64} << 20, budget_metrics_};
  std::optional<TestCluster> cluster_;
  std::unique_ptr<Producer> producer_;
  Journal journal_;
};

TEST_F(ConsumerOnCluster, takes_less_while_others_hold_the_memory_but_goes_on) {
  auto consumer = open(journal_);
  const std::size_t ahead = memory_.used();
  EXPECT_GT(ahead, 0U) << "for what is fetched ahead";
  const auto all = memory_.try_take(memory_.available());
  ASSERT_TRUE(all);
  cluster_->write("t", 0, numbered("a", 5));
  wait_committed(0, 5);
  EXPECT_TRUE(runtime::eventually([&] { return memory_.used() == all->bytes() + ahead; }));
  consumer.reset();
  EXPECT_EQ(memory_.used(), all->bytes());
}

TEST_F(ConsumerOnCluster, takes_what_is_there_and_commits_behind_it) {
  cluster_->write("t", 0, numbered("a", 5));
  cluster_->write("t", 1, numbered("b", 3));
  const auto consumer = open(journal_);
  journal_.wait_taken(8);
  wait_committed(0, 5);
  wait_committed(1, 3);
  EXPECT_TRUE(consumer->health()) << consumer->health().error().what;
  cluster_->write("t", 0, {"late"});
  journal_.wait_taken(9);
  wait_committed(0, 6);
}

TEST_F(ConsumerOnCluster, holds_what_cannot_be_taken_now_and_all_behind_it_in_its_partition) {
  cluster_->write("t", 0, numbered("a", 6));
  cluster_->write("t", 1, numbered("b", 3));
  journal_.judge([](const std::string& value) { return value == "a2" ? Kind::retry : Kind::ok; });
  const auto consumer = open(journal_);
  // Four repeats, 0.1 + 0.2 + 0.4 + 0.8 s apart: commits every half a second would have told.
  journal_.wait_offered("a2", 5);
  wait_committed(1, 3);
  cluster_->write("t", 1, numbered("c", 30));
  wait_committed(1, 33);
  EXPECT_EQ(cluster_->committed("g", "t", 0), 2);
  ASSERT_FALSE(consumer->health());
  EXPECT_THAT(consumer->health().error().what, testing::HasSubstr("because of a2"));
  journal_.judge(nullptr);
  wait_committed(0, 6);
  // Those behind it were offered again with it; what counts is the last time.
  const std::vector<std::string> taken = journal_.taken();
  for (const std::string once : {"a0", "a1", "a2"}) {
    EXPECT_EQ(std::ranges::count(taken, once), 1) << once;
  }
  const std::vector<std::string> last(taken.end() - 4, taken.end());
  EXPECT_EQ(last, (std::vector<std::string>{"a2", "a3", "a4", "a5"}));
  cluster_->write("t", 0, {"next"});
  wait_committed(0, 7);
  EXPECT_TRUE(consumer->health());
}

TEST_F(ConsumerOnCluster, sends_poison_to_its_own_topic_as_it_was) {
  cluster_->write("t", 0, {"good", "bad", "good too"});
  journal_.judge([](const std::string& value) { return value == "bad" ? Kind::poison : Kind::ok; });
  const auto consumer = open(journal_);
  wait_committed(0, 3);
  const std::vector<MessagePtr> letters = cluster_->read("t.dlq", 0, 1);
  ASSERT_EQ(letters.size(), 1U);
  const rd_kafka_message_t& letter = *letters.front();
  EXPECT_EQ(std::string(static_cast<const char*>(letter.payload), letter.len), "bad");
  EXPECT_EQ(std::string(static_cast<const char*>(letter.key), letter.key_len), "k");
  rd_kafka_headers_t* headers = nullptr;
  ASSERT_EQ(rd_kafka_message_headers(&letter, &headers), RD_KAFKA_RESP_ERR_NO_ERROR);
  const auto header = [&](const char* name) {
    const void* value = nullptr;
    std::size_t size = 0;
    EXPECT_EQ(rd_kafka_header_get_last(headers, name, &value, &size), RD_KAFKA_RESP_ERR_NO_ERROR)
        << name;
    return std::string(static_cast<const char*>(value), size);
  };
  EXPECT_EQ(header("penstock-error"), "because of bad");
  EXPECT_EQ(header("penstock-topic"), "t");
  EXPECT_EQ(header("penstock-partition"), "0");
  EXPECT_EQ(header("penstock-offset"), "1");
  EXPECT_EQ(header("trace"), "7") << "what it came with";
}

TEST_F(ConsumerOnCluster, moves_no_offset_past_poison_that_is_nowhere_yet) {
  TestCluster elsewhere;
  elsewhere.make_topic("t.dlq", 1);
  const auto dead_letters = open_producer(elsewhere);
  elsewhere.set_down(true);
  wait_for_health(*dead_letters, false);
  cluster_->write("t", 0, {"good", "bad"});
  cluster_->write("t", 1, {"other"});
  journal_.judge([](const std::string& value) { return value == "bad" ? Kind::poison : Kind::ok; });
  const auto consumer = open(journal_, dead_letters.get());
  journal_.wait_offered("bad", 5);
  wait_committed(1, 1);
  EXPECT_EQ(cluster_->committed("g", "t", 0), 1);
  elsewhere.set_down(false);
  wait_committed(0, 2);
  EXPECT_EQ(elsewhere.read("t.dlq", 0, 1).size(), 1U);
}

TEST_F(ConsumerOnCluster, loses_nothing_to_a_member_that_joins_while_a_batch_is_held) {
  cluster_->write("t", 0, numbered("a", 20));
  cluster_->write("t", 1, numbered("b", 20));
  journal_.judge([](const std::string&) { return Kind::retry; });
  const auto first = open(journal_);
  journal_.wait_offered("a0", 2);
  journal_.wait_offered("b0", 2);
  Journal other;
  const auto second = open(other);
  // It gets one of the two partitions, from its beginning: nothing was committed.
  other.wait_taken(20);
  journal_.judge(nullptr);
  wait_committed(0, 20);
  wait_committed(1, 20);
  std::vector<std::string> taken = journal_.taken();
  const std::vector<std::string> by_other = other.taken();
  taken.insert(taken.end(), by_other.begin(), by_other.end());
  const std::set<std::string> distinct(taken.begin(), taken.end());
  EXPECT_EQ(distinct.size(), 40U);
  EXPECT_TRUE(std::ranges::is_sorted(by_other, {}, [](const std::string& value) {
    return value.front() * 1'000 + std::stoi(value.substr(1));
  })) << testing::PrintToString(by_other);
}

TEST_F(ConsumerOnCluster, stops_at_once_and_leaves_what_it_holds_to_the_next) {
  cluster_->write("t", 0, numbered("a", 6));
  journal_.judge([](const std::string& value) { return value == "a3" ? Kind::retry : Kind::ok; });
  auto consumer = open(journal_);
  journal_.wait_offered("a3", 6);  // it waits seconds between two attempts by now
  const auto began = std::chrono::steady_clock::now();
  consumer.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
  EXPECT_EQ(cluster_->committed("g", "t", 0), 3) << "what was stored is committed at the end";
  Journal next;
  consumer = open(next);
  next.wait_taken(3);
  EXPECT_EQ(next.taken(), (std::vector<std::string>{"a3", "a4", "a5"}));
}

}  // namespace
}  // namespace penstock::kafka
