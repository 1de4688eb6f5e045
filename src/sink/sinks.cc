#include "sink/sinks.h"

#include <utility>

#include "sink/kafka/kafka_sink.h"
#include "sink/log/log_sink.h"

namespace penstock::sink {

Result<std::unique_ptr<Sink>> make_sink(const core::SinkSettings& settings, SinkContext& context) {
  switch (settings.type) {
    case core::SinkType::log:
      return std::make_unique<LogSink>(context.log);
    case core::SinkType::http:
      return context.http.open_sink(settings);
    case core::SinkType::kafka:
      if (context.kafka == nullptr) {
        return invalid_field("sink.type", "is kafka, and kafka.brokers is not set");
      }
      return make_kafka_sink(settings, *context.kafka);
    case core::SinkType::temporal:
      if (context.temporal == nullptr) {
        return invalid_field("sink.type", "is temporal, and temporal.address is not set");
      }
      return context.temporal->open_sink(settings);
    case core::SinkType::extension:
      if (Result<void> good = check_sink(settings, context.extensions); !good) {
        return std::unexpected(std::move(good.error()));
      }
      return find_extension(context.extensions, settings.extension)->open(settings, context.log);
    case core::SinkType::smpp:
      if (context.smpp == nullptr) return invalid_field("sink.type", "smpp is not served here");
      return context.smpp->open_sink(settings);
  }
  return invalid_field("sink.type", "is not known");
}

}  // namespace penstock::sink
