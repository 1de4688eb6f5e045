// For tests: librdkafka's mock of a cluster, in this process.
#pragma once

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "kafka/handle.h"
#include "kafka/producer.h"

namespace penstock::kafka {

class TestCluster {
 public:
  TestCluster() {
    Result<Conf> conf = make_conf({.brokers = "none:1"}, {});
    Result<Handle> made = make_handle(RD_KAFKA_PRODUCER, std::move(*conf));
    EXPECT_TRUE(made);
    owner_ = std::move(*made);
    cluster_ = rd_kafka_mock_cluster_new(owner_.get(), 1);
  }
  ~TestCluster() { rd_kafka_mock_cluster_destroy(cluster_); }
  TestCluster(const TestCluster&) = delete;
  TestCluster& operator=(const TestCluster&) = delete;

  Connection connection() const { return {.brokers = rd_kafka_mock_cluster_bootstraps(cluster_)}; }
  void make_topic(const std::string& name, int partitions = 1) {
    rd_kafka_mock_topic_create(cluster_, name.c_str(), partitions, 1);
  }
  // The next answer to a produce request.
  void fail_produce(rd_kafka_resp_err_t error) {
    rd_kafka_mock_push_request_errors(cluster_, 0, 1, error);  // 0 = Produce
  }
  // It takes requests and answers them so much later.
  void answer_after(std::chrono::milliseconds delay) {
    rd_kafka_mock_broker_set_rtt(cluster_, 1, static_cast<int>(delay.count()));
  }
  void set_down(bool down) {
    down ? rd_kafka_mock_broker_set_down(cluster_, 1) : rd_kafka_mock_broker_set_up(cluster_, 1);
  }

 private:
  Handle owner_;
  rd_kafka_mock_cluster_t* cluster_ = nullptr;
};

// Waits for what becomes of one message.
inline DeliveryReport deliver(Producer& producer, OutgoingMessage&& message) {
  auto told = std::make_shared<std::promise<DeliveryReport>>();
  auto report = told->get_future();
  producer.send(std::move(message),
                [told](DeliveryReport each) { told->set_value(std::move(each)); });
  if (report.wait_for(std::chrono::seconds(60)) != std::future_status::ready) {
    ADD_FAILURE() << "no report";
    return {.delivery = Delivery::not_now, .detail = "no report"};
  }
  return report.get();
}

// Until the producer's probe has found the cluster, or lost it.
inline void wait_for_health(const Producer& producer, bool healthy) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (producer.health().has_value() != healthy) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    std::this_thread::yield();
  }
}

}  // namespace penstock::kafka
