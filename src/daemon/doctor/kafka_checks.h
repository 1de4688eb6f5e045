// Kafka: brokers, and the topics that the settings and the item types name. The judgements are
// pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "daemon/config/config.h"
#include "daemon/doctor/finding.h"
#include "engine/kafka/inspect.h"
#include "runtime/deadline.h"
#include "store/queue/ports.h"

namespace penstock::daemon::doctor {

struct TopicUse {
  enum class Kind : std::uint8_t {
    bus,          // the gateway's; daemons make it
    intake,       // read by this daemon
    dead_letter,  // written when a message cannot be taken
    sink,         // written by dispatch
  };
  Kind kind = Kind::bus;
  std::string topic;
  std::string who;         // the setting or the item type that names it
  int partitions_min = 1;  // of the bus
};

// In the order in which they are told; each topic once for each of its kinds.
std::vector<TopicUse> topics_used(const Config& config,
                                  std::span<const store::ItemTypeRecord> types);

Findings judge_kafka(const kafka::ClusterView& view, std::span<const TopicUse> uses);

Findings check_kafka(const Config& config, std::span<const store::ItemTypeRecord> types,
                     const runtime::Deadline& deadline);

}  // namespace penstock::daemon::doctor
