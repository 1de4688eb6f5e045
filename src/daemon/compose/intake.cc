#include "daemon/compose/intake.h"

#include <map>
#include <string>
#include <utility>

#include "daemon/compose/dispatch.h"
#include "daemon/compose/stores.h"
#include "front/intake/intake.h"

namespace penstock::daemon {
namespace {

kafka::Handler handler_of(const ItemType& type, const Config& config, const IntakePorts& ports) {
  const std::size_t bytes_max = config.dispatch.context_bytes_max;
  // A payment is more than its item: it is checked, judged by the rules and kept.
  if (type == store::payment_item_type()) return front::payment_intake(ports.payments, bytes_max);
  return front::dispatch_intake(ports.dispatch, type, bytes_max);
}

// As many as the store writes at once, and one that is being read meanwhile.
std::size_t batches_of(const Config& config) {
  return writers_of(config, config.dispatch.store) + 1;
}

}  // namespace

Result<std::unique_ptr<IntakePart>> IntakePart::start(const Config& config,
                                                      const IntakePorts& ports, Log& log,
                                                      runtime::Metrics& metrics,
                                                      std::vector<front::ReadyCheck>& checks) {
  auto part = std::make_unique<IntakePart>();
  if (config.kafka.intake_topics.empty()) return part;
  std::map<std::string, kafka::Handler> handlers;
  for (const auto& [topic, type] : config.kafka.intake_topics) {
    handlers.emplace(topic, handler_of(type, config, ports));
  }
  auto consumer =
      kafka::Consumer::make(part->steady_, log, metrics, ports.memory, *ports.dead_letters,
                            {.connection = kafka_connection(config.kafka),
                             .group = config.kafka.intake_group,
                             .dead_letter_suffix = config.kafka.dead_letter_suffix,
                             .batches_max = batches_of(config)},
                            std::move(handlers));
  if (!consumer) return fail(ErrorKind::invalid, "kafka.intake: " + consumer.error().what);
  part->consumer_ = std::move(*consumer);
  checks.push_back({.name = "intake.kafka", .check = [part = part.get()]() -> Result<void> {
                      if (part->consumer_) return part->consumer_->health();
                      return fail(ErrorKind::unavailable, "stopped");
                    }});
  return part;
}

}  // namespace penstock::daemon
