#include "daemon/doctor/checks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/log.h"
#include "daemon/compose/dispatch.h"
#include "daemon/compose/stores.h"
#include "engine/http/url.h"
#include "runtime/clocks.h"
#include "runtime/metrics.h"
#include "sink/kafka/kafka.h"
#include "sink/kinds.h"
#include "sink/temporal/temporal_client.h"
#include "store/embedded/inspect.h"
#include "store/queue/postgres/queue.h"
#include "wire/described.h"

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

constexpr const char* kName = "temporal.namespace";

using std::chrono::days;

// People renew by hand within two weeks; programs do a month ahead.
constexpr days kRenewWithin{14};

Target target_of(const Config& config, const store::ItemTypeRecord& record,
                 const Result<sink::SinkPlace>& place) {
  const std::string& type = record.type.str();
  Target target{
      .name = fmt::format("sink.{}.{}", record.settings.sink.kind, type), .who = type, .where = {}};
  if (!place) {
    target.problem = place.error().what;
    return target;
  }
  target.where = {.host = place->host,
                  .port = place->port,
                  .tls = place->tls,
                  .ca_file = config.dispatch.ca_file.string(),
                  .refuse_private = config.dispatch.refuse_private_addresses};
  return target;
}

bool same_place(const Target& a, const Target& b) {
  return a.problem.empty() && b.problem.empty() &&
         std::tie(a.where.host, a.where.port, a.where.tls) ==
             std::tie(b.where.host, b.where.port, b.where.tls);
}

void add(std::vector<Target>& targets, Target target) {
  const auto known =
      std::ranges::find_if(targets, [&](const Target& other) { return same_place(other, target); });
  if (known == targets.end()) {
    targets.push_back(std::move(target));
  } else {
    known->who += ", " + target.who;
  }
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
    if (record.settings.sink.kind != "kafka") continue;
    const auto sink = wire::from_document<sink::KafkaSettings>(record.settings.sink.document);
    if (!sink) continue;
    const std::string& topic = sink->topic;
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

Findings check_temporal(const Config& config, std::span<const store::ItemTypeRecord> types,
                        const runtime::Deadline& deadline) {
  const TemporalConfig& temporal = config.temporal;
  if (temporal.address.empty()) {
    const auto user = std::ranges::find_if(types, [](const store::ItemTypeRecord& record) {
      return record.settings.sink.kind == "temporal";
    });
    if (user == types.end()) return {skipped("temporal", "temporal.address is not set")};
    return {failed(kName,
                   fmt::format("item type {} goes to Temporal, and temporal.address is not "
                               "set",
                               user->type.str()),
                   "set temporal.address: host:port")};
  }
  Result<sink::TemporalOptions> options = temporal_options(temporal);
  if (!options) return {failed(kName, options.error().what, "make the file readable")};
  const runtime::SteadyWallClock clock;
  Log log(clock, STDERR_FILENO, LogLevel::off, LogFormat::text);
  runtime::Metrics metrics;
  sink::TemporalClient client(clock, log, metrics, std::move(*options));
  client.wait_for_probe(deadline.remaining());
  if (const Result<void> served = client.health(); !served) {
    return {failed(kName, served.error().what,
                   fmt::format("start Temporal, correct temporal.address, or make the namespace: "
                               "temporal operator namespace create {}",
                               temporal.namespace_name))};
  }
  return {ok(kName,
             fmt::format("{} serves the namespace {}", temporal.address, temporal.namespace_name))};
}

Result<std::vector<store::ItemTypeRecord>> read_item_types(const Config& config,
                                                           const runtime::Deadline& deadline) {
  if (config.dispatch.store == StoreChoice::postgres) {
    store::postgres::Pool pool(store::postgres::connect_options(postgres_options(config)),
                               {.connections_max = 1, .connect_limit = deadline.remaining()},
                               nullptr);
    return store::postgres::make_item_types({pool, deadline.remaining()})->list();
  }
  return PENSTOCK_TRY(store::embedded::inspect_folder(config.data_dir)).item_types;
}

std::vector<Target> targets_of(const Config& config, std::span<const store::ItemTypeRecord> types) {
  std::vector<Target> targets;
  const sink::SinkKinds kinds(sink_kinds({}));
  for (const store::ItemTypeRecord& record : types) {
    if (!record.settings.enabled) continue;
    const std::optional<Result<sink::SinkPlace>> place = kinds.place(record.settings.sink);
    if (place) add(targets, target_of(config, record, *place));
  }
  const UsageExportConfig& usage = config.gateway.usage_export;
  if (const Result<http::Url> url = http::parse_url(usage.opensearch_url);
      url && !usage.opensearch_url.empty()) {
    targets.push_back({.name = "sink.opensearch",
                       .who = "gateway.export.opensearch-url",
                       .where = {.host = url->host,
                                 .port = url->port,
                                 .tls = url->tls,
                                 .ca_file = usage.ca_file.string()}});
  }
  return targets;
}

Finding judge_certificate(std::string name, std::string found, Instant valid_until, Instant now) {
  const auto left = std::chrono::floor<days>(valid_until - now).count();
  if (valid_until <= now) {
    return failed(std::move(name), found + "; its certificate has ended", "renew the certificate");
  }
  found += fmt::format("; its certificate ends in {} day{}", left, left == 1 ? "" : "s");
  return graded(std::move(name), false, valid_until - now < kRenewWithin, std::move(found),
                "renew the certificate");
}

Finding judge_target(const Target& target, const Result<Reached>& reached, Instant now) {
  if (!target.problem.empty()) {
    return failed(target.name, target.problem,
                  "correct it: PUT /admin/dispatch/types/" + target.who);
  }
  if (!reached) {
    return failed(target.name, fmt::format("{} (for {})", reached.error().what, target.who),
                  target.where.tls
                      ? "start the receiver, correct its address, or name who vouches for it in a "
                        "ca-file"
                      : "start the receiver, or correct its address or the firewall");
  }
  std::string found = fmt::format("{} answers (for {})", reached->address, target.who);
  if (!reached->valid_until) return ok(target.name, std::move(found));
  return judge_certificate(target.name, std::move(found), *reached->valid_until, now);
}

std::vector<Area> sink_areas(const Config& config, std::span<const store::ItemTypeRecord> types) {
  std::vector<Area> areas;
  for (const Target& target : targets_of(config, types)) {
    areas.push_back({target.name, [target](const runtime::Deadline& deadline) -> Findings {
                       if (!target.problem.empty()) return {judge_target(target, Reached{}, {})};
                       const Result<Reached> reached = reach(target.where, deadline);
                       return {judge_target(target, reached, runtime::SystemClock().now())};
                     }});
  }
  if (areas.empty()) {
    areas.push_back({"sink", [](const runtime::Deadline&) -> Findings {
                       return {skipped("sink", "no item type goes to an address of its own")};
                     }});
  }
  return areas;
}

}  // namespace penstock::daemon::doctor
