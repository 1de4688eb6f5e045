// The gateway's messages as records of a topic: the key is the user, the value "101: Hello", and
// headers have the message's id, the time and the trace. Thread-safe.
#pragma once

#include <string>
#include <utility>

#include "engine/kafka/producer.h"
#include "sink/message_bus.h"

namespace penstock::sink {

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
