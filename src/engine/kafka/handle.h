// librdkafka's handles, owned. For the files of this folder.
#pragma once

#include <librdkafka/rdkafka.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "engine/kafka/producer.h"

// librdkafka's macros are expressions of GNU.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wgnu-statement-expression-from-macro-expansion"
#endif

namespace penstock::kafka {

// How long one poll waits for events; a stop is noticed this late.
inline constexpr int kPollMillis = 100;

struct ConfDeleter {
  void operator()(rd_kafka_conf_t* conf) const noexcept { rd_kafka_conf_destroy(conf); }
};
using Conf = std::unique_ptr<rd_kafka_conf_t, ConfDeleter>;

struct HandleDeleter {
  void operator()(rd_kafka_t* handle) const noexcept { rd_kafka_destroy(handle); }
};
using Handle = std::unique_ptr<rd_kafka_t, HandleDeleter>;

struct MessageDeleter {
  void operator()(rd_kafka_message_t* message) const noexcept { rd_kafka_message_destroy(message); }
};
using MessagePtr = std::unique_ptr<rd_kafka_message_t, MessageDeleter>;

struct PartitionsDeleter {
  void operator()(rd_kafka_topic_partition_list_t* list) const noexcept {
    rd_kafka_topic_partition_list_destroy(list);
  }
};
using Partitions = std::unique_ptr<rd_kafka_topic_partition_list_t, PartitionsDeleter>;

using Settings = std::initializer_list<std::pair<const char*, std::string>>;

// The settings of `connection`, then these.
Result<Conf> make_conf(const Connection& connection, Settings settings);
// Takes the conf.
Result<Handle> make_handle(rd_kafka_type_t type, Conf conf);
// The same with `sent` called for each request once it is with the kernel, on a thread of
// librdkafka, before anything is told of its answer.
using RequestSent = rd_kafka_interceptor_f_on_request_sent_t;
Result<Handle> make_watched_handle(rd_kafka_type_t type, Conf conf, RequestSent* sent,
                                   void* opaque);

}  // namespace penstock::kafka
