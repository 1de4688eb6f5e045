// What the brokers say of themselves and their topics, asked once. Blocking; makes nothing.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "engine/kafka/producer.h"

namespace penstock::kafka {

struct TopicView {
  std::string name;
  std::size_t partitions = 0;
  std::size_t replicas = 0;     // the fewest that a partition has
  std::size_t not_in_sync = 0;  // partitions with a replica that is behind
  std::size_t leaderless = 0;   // partitions that nobody serves
};

struct ClusterView {
  std::size_t brokers = 0;
  std::vector<TopicView> topics;
};

// `invalid` for settings that librdkafka refuses, else `unavailable` with the reason.
Result<ClusterView> inspect(const Connection& connection, Millis within);

}  // namespace penstock::kafka
