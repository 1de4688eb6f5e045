#include "engine/kafka/producer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

#include "engine/kafka/testing/test_cluster.h"
#include "runtime/clocks.h"

namespace penstock::kafka {
namespace {

class OnCluster : public testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP()
        << "librdkafka begins its threads by thrd_create, which the thread sanitizer lacks";
#endif
    cluster_.emplace();
  }
  void open(Millis message_timeout = Seconds{30}) {
    auto made = Producer::make(clock_, log_,
                               {.connection = cluster_->connection(),
                                .message_timeout = message_timeout,
                                .probe_interval = Millis{50}});
    ASSERT_TRUE(made) << made.error().what;
    producer_ = std::move(*made);
    wait_for_health(*producer_, true);
  }
  DeliveryReport send(std::string value = "v") {
    return deliver(*producer_, {.topic = "t", .key = "k", .value = std::move(value)});
  }

  const runtime::SteadyWallClock clock_;
  Log log_{clock_, 2, LogLevel::off, LogFormat::text};
  std::optional<TestCluster> cluster_;
  std::unique_ptr<Producer> producer_;
};

TEST_F(OnCluster, reports_what_has_arrived) {
  open();
  const DeliveryReport report = send();
  EXPECT_EQ(report.delivery, Delivery::done);
  EXPECT_THAT(report.detail, testing::MatchesRegex("partition [0-9]+ offset [0-9]+"));
}

TEST_F(OnCluster, repeats_by_itself_what_may_work) {
  open();
  cluster_->fail_produce(RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION);
  EXPECT_EQ(send().delivery, Delivery::done);
}

TEST_F(OnCluster, says_what_never_will) {
  open();
  const DeliveryReport report = send(std::string(71'000'000, 'x'));
  EXPECT_EQ(report.delivery, Delivery::never);
  EXPECT_THAT(report.detail, testing::HasSubstr("too large"));
}

TEST_F(OnCluster, takes_nothing_while_the_brokers_are_away) {
  open(Seconds{2});
  cluster_->set_down(true);
  wait_for_health(*producer_, false);
  EXPECT_EQ(send().delivery, Delivery::not_now);
  cluster_->set_down(false);
  wait_for_health(*producer_, true);
  EXPECT_EQ(send().delivery, Delivery::done);
}

TEST_F(OnCluster, knows_what_is_nowhere_for_certain) {
  open(Seconds{2});
  ASSERT_EQ(send().delivery, Delivery::done);
  EXPECT_FALSE(send().lost);
  EXPECT_TRUE(send(std::string(71'000'000, 'x')).lost);
  cluster_->set_down(true);
  wait_for_health(*producer_, false);
  EXPECT_TRUE(send().lost);
}

TEST_F(OnCluster, does_not_know_of_what_was_sent_and_never_answered) {
  open(Seconds{2});
  ASSERT_EQ(send().delivery, Delivery::done);  // the topic's leader is known
  cluster_->answer_after(std::chrono::seconds(60));
  const DeliveryReport report = send();
  EXPECT_EQ(report.delivery, Delivery::not_now);
  EXPECT_FALSE(report.lost) << report.detail;
}

TEST_F(OnCluster, does_not_know_of_what_a_broker_refused_while_it_gave_up_its_partitions) {
  open(Seconds{2});
  ASSERT_EQ(send().delivery, Delivery::done);
  for (int i = 0; i < 100; ++i) {  // as often as it can be sent again before its time is up
    cluster_->fail_produce(RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION);
  }
  const DeliveryReport report = send();
  EXPECT_EQ(report.delivery, Delivery::not_now);
  EXPECT_FALSE(report.lost) << report.detail;
}

TEST_F(OnCluster, knows_that_what_a_broker_refused_for_good_is_nowhere) {
  open(Seconds{2});
  ASSERT_EQ(send().delivery, Delivery::done);
  for (const auto error :
       {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_INVALID_RECORD}) {
    cluster_->fail_produce(error);
    const DeliveryReport report = send();
    EXPECT_NE(report.delivery, Delivery::done);
    EXPECT_TRUE(report.lost) << report.detail;
  }
}

TEST_F(OnCluster, knows_that_what_was_never_sent_is_nowhere) {
  open(Seconds{2});
  ASSERT_EQ(send().delivery, Delivery::done);
  cluster_->set_down(true);  // the probe has not noticed
  const DeliveryReport report = send();
  EXPECT_EQ(report.delivery, Delivery::not_now);
  EXPECT_TRUE(report.lost) << report.detail;
}

TEST_F(OnCluster, answers_for_everything_when_it_ends) {
  open();
  std::atomic<int> reports{0};
  cluster_->set_down(true);
  for (int i = 0; i < 100; ++i) {
    producer_->send({.topic = "t", .key = "k", .value = "v"}, [&](DeliveryReport) { ++reports; });
  }
  producer_.reset();
  EXPECT_EQ(reports, 100);
}

TEST_F(OnCluster, begins_anew_after_a_fatal_error) {
  open();
  ASSERT_EQ(send().delivery, Delivery::done);
  // The producer's sequence is refused for good.
  cluster_->fail_produce(RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER);
  cluster_->fail_produce(RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH);
  DeliveryReport report = send();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (report.delivery != Delivery::done && std::chrono::steady_clock::now() < end) {
    report = send();
  }
  EXPECT_EQ(report.delivery, Delivery::done) << report.detail;
}

TEST(Producer, refuses_settings_that_make_no_sense) {
  const runtime::SteadyWallClock clock;
  Log log(clock, 2, LogLevel::off, LogFormat::text);
  const auto made =
      Producer::make(clock, log, {.connection = {.brokers = "a:1", .sasl_mechanism = "NONSENSE"}});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::invalid);
}

}  // namespace
}  // namespace penstock::kafka
