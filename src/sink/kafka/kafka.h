// Kafka as a sink and as the gateway's bus. Thread-safe.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "base/describe.h"
#include "engine/kafka/producer.h"
#include "sink/kinds.h"
#include "sink/message_bus.h"
#include "sink/sink.h"

namespace penstock::sink {

// Hands items over as messages of a topic: the key is the item's id, the value the envelope that
// HTTP sinks post, too. The broker's receipt is the hand-over.
struct KafkaSettings {
  std::string topic;

  core::SinkTraits traits() const { return {}; }
};

// `producer` must outlive the sinks; null = no brokers are set. Answers come on the producer's
// thread or at once.
SinkKind kafka_kind(kafka::Producer* producer);

// The gateway's messages as records of a topic: the key is the user, the value "101: Hello", and
// headers have the message's id, the time and the trace.
class KafkaBus final : public MessageBus {
 public:
  // `producer` must outlive this; its time-out is the bus's deadline.
  KafkaBus(kafka::Producer& producer, std::string topic)
      : producer_(producer), topic_(std::move(topic)) {}

  void publish(BusMessage&& message, Done done) override;

 private:
  kafka::Producer& producer_;
  const std::string topic_;
};

}  // namespace penstock::sink

namespace penstock {

template <>
struct Description<sink::KafkaSettings> {
  static constexpr std::string_view name = "KafkaSink";
  static constexpr std::array fields = {
      required(range(field<&sink::KafkaSettings::topic>("topic", "Where messages go."), 1, 1'000))};
};

}  // namespace penstock
