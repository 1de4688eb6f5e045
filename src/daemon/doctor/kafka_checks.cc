#include "daemon/doctor/kafka_checks.h"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/compose_dispatch.h"

namespace penstock::daemon::doctor {
namespace {

using kafka::ClusterView;
using kafka::TopicView;
using Kind = TopicUse::Kind;

constexpr const char* kCreate =
    "kafka-topics.sh --create --topic {} --partitions {} --replication-factor {}";

std::string name_of(const TopicUse& use) { return "kafka.topic." + use.topic; }

Finding judge_missing(const TopicUse& use, std::size_t brokers) {
  const std::string found = fmt::format("not there, and {} names it", use.who);
  const std::string create = fmt::format(fmt::runtime(kCreate), use.topic, use.partitions_min,
                                         std::min<std::size_t>(brokers, 3));
  switch (use.kind) {
    case Kind::bus:
      return ok(name_of(use), found + "; a daemon makes it when it starts");
    case Kind::dead_letter:
      return warning(name_of(use),
                     found +
                         ": a message that cannot be taken holds up those behind it unless the "
                         "brokers make topics by themselves",
                     create);
    case Kind::intake:
    case Kind::sink:
      break;
  }
  return failed(name_of(use), found, create);
}

Finding judge_topic(const TopicView& topic, const TopicUse& use, std::size_t brokers) {
  const std::string found = fmt::format("{} partition{}, {} replica{}, for {}", topic.partitions,
                                        topic.partitions == 1 ? "" : "s", topic.replicas,
                                        topic.replicas == 1 ? "" : "s", use.who);
  if (topic.leaderless > 0) {
    return failed(
        name_of(use),
        fmt::format("{} of {} partitions have no leader", topic.leaderless, topic.partitions),
        "start the brokers that hold them: kafka-topics.sh --describe "
        "--unavailable-partitions");
  }
  if (topic.not_in_sync > 0) {
    return warning(name_of(use),
                   fmt::format("{} of {} partitions have a replica that is behind",
                               topic.not_in_sync, topic.partitions),
                   "see to the brokers that are behind: kafka-topics.sh --describe "
                   "--under-replicated-partitions");
  }
  if (topic.replicas < 2 && brokers > 1) {
    return warning(name_of(use), found + ": the loss of one broker loses messages",
                   "raise its replication by kafka-reassign-partitions.sh");
  }
  if (use.kind == Kind::bus && topic.partitions < static_cast<std::size_t>(use.partitions_min)) {
    return warning(name_of(use),
                   found + fmt::format("; gateway.kafka.partitions is {}", use.partitions_min),
                   fmt::format("kafka-topics.sh --alter --topic {} --partitions {}", use.topic,
                               use.partitions_min));
  }
  return ok(name_of(use), found);
}

}  // namespace

std::vector<TopicUse> topics_used(const Config& config,
                                  std::span<const store::ItemTypeRecord> types) {
  std::vector<TopicUse> uses;
  const std::string& suffix = config.kafka.dead_letter_suffix;
  if (config.gateway.bus == BusChoice::kafka) {
    const std::string& topic = config.gateway.kafka_topic;
    uses.push_back({Kind::bus, topic, "gateway.kafka.topic", config.gateway.kafka_partitions});
    uses.push_back({Kind::dead_letter, topic + suffix, "kafka.intake.dead-letter-suffix"});
  }
  for (const auto& [topic, type] : config.kafka.intake_topics) {
    uses.push_back({Kind::intake, topic, "kafka.intake.topics"});
    uses.push_back({Kind::dead_letter, topic + suffix, "kafka.intake.dead-letter-suffix"});
  }
  for (const store::ItemTypeRecord& record : types) {
    if (record.settings.sink.type != core::SinkType::kafka) continue;
    const std::string& topic = record.settings.sink.topic;
    const auto known = std::ranges::find_if(
        uses, [&](const TopicUse& use) { return use.kind == Kind::sink && use.topic == topic; });
    if (known != uses.end()) continue;
    uses.push_back({Kind::sink, topic, fmt::format("item type {}", record.type.str())});
  }
  return uses;
}

Findings judge_kafka(const ClusterView& view, std::span<const TopicUse> uses) {
  Findings findings;
  findings.push_back(view.brokers > 0
                         ? ok("kafka.brokers", fmt::format("{} broker{}", view.brokers,
                                                           view.brokers == 1 ? "" : "s"))
                         : failed("kafka.brokers", "no broker is known", "start the brokers"));
  for (const TopicUse& use : uses) {
    const auto topic = std::ranges::find(view.topics, use.topic, &TopicView::name);
    findings.push_back(topic == view.topics.end() ? judge_missing(use, view.brokers)
                                                  : judge_topic(*topic, use, view.brokers));
  }
  return findings;
}

Findings check_kafka(const Config& config, std::span<const store::ItemTypeRecord> types,
                     const runtime::Deadline& deadline) {
  const std::vector<TopicUse> uses = topics_used(config, types);
  if (config.kafka.brokers.empty()) {
    if (uses.empty()) return {skipped("kafka", "kafka.brokers is not set")};
    return {failed("kafka.brokers",
                   fmt::format("{} needs Kafka, and kafka.brokers is not set", uses.front().who),
                   "set kafka.brokers: host:port,host:port")};
  }
  const Result<ClusterView> view =
      kafka::inspect(kafka_connection(config.kafka), deadline.remaining());
  if (!view) {
    return {failed("kafka.brokers", fmt::format("{}: {}", config.kafka.brokers, view.error().what),
                   "start the brokers, or correct kafka.brokers, kafka.tls.* and kafka.sasl.*")};
  }
  return judge_kafka(*view, uses);
}

}  // namespace penstock::daemon::doctor
