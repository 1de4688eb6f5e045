#include "engine/kafka/inspect.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "engine/kafka/handle.h"

namespace penstock::kafka {
namespace {

struct MetadataDeleter {
  void operator()(const struct rd_kafka_metadata* metadata) const noexcept {
    rd_kafka_metadata_destroy(metadata);
  }
};

// Why a broker cannot be spoken to; the question itself learns only that none can.
void on_error(rd_kafka_t*, int error, const char* reason, void* opaque) {
  if (error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) return;
  const std::string_view what = reason;
  *static_cast<std::string*>(opaque) = what.substr(0, what.find(" (after "));
}

TopicView view_of(const rd_kafka_metadata_topic& topic) {
  TopicView view{.name = topic.topic,
                 .partitions = static_cast<std::size_t>(std::max(topic.partition_cnt, 0)),
                 .replicas = std::numeric_limits<std::size_t>::max()};
  for (std::size_t i = 0; i < view.partitions; ++i) {
    const rd_kafka_metadata_partition& partition = topic.partitions[i];
    view.replicas = std::min(view.replicas, static_cast<std::size_t>(partition.replica_cnt));
    if (partition.isr_cnt < partition.replica_cnt) ++view.not_in_sync;
    if (partition.leader < 0) ++view.leaderless;
  }
  if (view.partitions == 0) view.replicas = 0;
  return view;
}

}  // namespace

Result<ClusterView> inspect(const Connection& connection, Millis within) {
  std::string trouble;  // outlives the handle, which tells it
  Conf conf = PENSTOCK_TRY(make_conf(connection, {}));
  rd_kafka_conf_set_opaque(conf.get(), &trouble);
  rd_kafka_conf_set_error_cb(conf.get(), on_error);
  const Handle handle = PENSTOCK_TRY(make_handle(RD_KAFKA_PRODUCER, std::move(conf)));

  const struct rd_kafka_metadata* answer = nullptr;
  // Of all topics: asking for one by its name may make it.
  const rd_kafka_resp_err_t error = rd_kafka_metadata(handle.get(), /*all_topics=*/1, nullptr,
                                                      &answer, static_cast<int>(within.count()));
  const std::unique_ptr<const struct rd_kafka_metadata, MetadataDeleter> metadata(answer);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    rd_kafka_poll(handle.get(), 0);  // hands the reasons over
    return fail(ErrorKind::unavailable, trouble.empty() ? rd_kafka_err2str(error) : trouble);
  }
  ClusterView view{.brokers = static_cast<std::size_t>(std::max(metadata->broker_cnt, 0))};
  for (int i = 0; i < metadata->topic_cnt; ++i) view.topics.push_back(view_of(metadata->topics[i]));
  return view;
}

}  // namespace penstock::kafka
