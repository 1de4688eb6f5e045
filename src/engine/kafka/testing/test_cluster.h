// For tests: librdkafka's mock of a cluster, in this process.
#pragma once

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/kafka/handle.h"
#include "engine/kafka/producer.h"
#include "runtime/test_eventually.h"

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
  ~TestCluster() {
    reader_.reset();  // it would look for the brokers
    rd_kafka_mock_cluster_destroy(cluster_);
  }
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
  // Writes these to one partition and waits until they are there.
  void write(const std::string& topic, int partition, const std::vector<std::string>& values) {
    Result<Conf> conf = make_conf(connection(), {});
    const Result<Handle> writer = make_handle(RD_KAFKA_PRODUCER, std::move(*conf));
    ASSERT_TRUE(writer);
    for (const std::string& value : values) {
      const auto error = rd_kafka_producev(
          writer->get(), RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_PARTITION(partition),
          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY("k", 1),
          RD_KAFKA_V_HEADER("trace", "7", 1),
          RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()), RD_KAFKA_V_END);
      ASSERT_EQ(error, RD_KAFKA_RESP_ERR_NO_ERROR);
    }
    ASSERT_EQ(rd_kafka_flush(writer->get(), 30'000), RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  // Where the group goes on; none while it has committed nothing.
  std::optional<std::int64_t> committed(const std::string& group, const std::string& topic,
                                        int partition = 0) const {
    Result<Conf> conf = make_conf(connection(), {{"group.id", group}});
    const Result<Handle> reader = make_handle(RD_KAFKA_CONSUMER, std::move(*conf));
    EXPECT_TRUE(reader);
    const Partitions one(rd_kafka_topic_partition_list_new(1));
    auto* const place = rd_kafka_topic_partition_list_add(one.get(), topic.c_str(), partition);
    const auto error = rd_kafka_committed(reader->get(), one.get(), 30'000);
    EXPECT_EQ(error, RD_KAFKA_RESP_ERR_NO_ERROR) << rd_kafka_err2str(error);
    if (place->offset < 0) return std::nullopt;
    return place->offset;
  }
  // The first messages of a partition, once there are that many.
  std::vector<MessagePtr> read(const std::string& topic, int partition, std::size_t count) const {
    Result<Conf> conf = make_conf(connection(), {{"group.id", "reader"}});
    reader_ = std::move(*make_handle(RD_KAFKA_CONSUMER, std::move(*conf)));
    const Partitions one(rd_kafka_topic_partition_list_new(1));
    rd_kafka_topic_partition_list_add(one.get(), topic.c_str(), partition)->offset =
        RD_KAFKA_OFFSET_BEGINNING;
    rd_kafka_assign(reader_.get(), one.get());
    std::vector<MessagePtr> messages;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (messages.size() < count && std::chrono::steady_clock::now() < end) {
      MessagePtr message(rd_kafka_consumer_poll(reader_.get(), 100));
      if (message && message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        messages.push_back(std::move(message));
      }
    }
    EXPECT_EQ(messages.size(), count);
    return messages;
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
  mutable Handle reader_;  // must outlive what it read
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
  ASSERT_TRUE(runtime::eventually([&] { return producer.health().has_value() == healthy; }));
}

}  // namespace penstock::kafka
