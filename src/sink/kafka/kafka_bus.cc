#include "sink/kafka/kafka_bus.h"

#include "base/iso8601.h"
#include "wire/gateway.h"

namespace penstock::sink {
namespace {

BusOutcome outcome_of(const kafka::DeliveryReport& report) {
  if (report.delivery == kafka::Delivery::done) return BusOutcome::delivered;
  return report.lost ? BusOutcome::lost : BusOutcome::unknown;
}

}  // namespace

void KafkaBus::publish(BusMessage&& message, Done done) {
  kafka::OutgoingMessage record{
      .topic = topic_,
      .key = std::to_string(message.user.raw),
      .value = wire::encode_message_line(message.user, message.text),
      .headers = {{std::string(wire::kMessageIdHeader), message.id.str()},
                  {std::string(wire::kAcceptedAtHeader), format_instant(message.accepted)}}};
  if (!message.to.empty()) record.headers.emplace_back(wire::kToHeader, std::move(message.to));
  if (!message.trace.empty()) {
    record.headers.emplace_back(wire::kTraceHeader, std::move(message.trace));
  }
  producer_.send(std::move(record),
                 [done = std::move(done)](const kafka::DeliveryReport& report) mutable {
                   done(outcome_of(report));
                 });
}

}  // namespace penstock::sink
