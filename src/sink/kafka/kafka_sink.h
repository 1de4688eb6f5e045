// Hands items over as messages of a topic: the key is the item's id, the value the envelope that
// HTTP sinks post, too. The broker's receipt is the hand-over. Thread-safe.
#pragma once

#include <memory>

#include "core/dispatch/item_type.h"
#include "engine/kafka/producer.h"
#include "sink/sink.h"

namespace penstock::sink {

// `producer` must outlive the sink. Answers come on the producer's thread or at once.
std::unique_ptr<Sink> make_kafka_sink(const core::SinkSettings& settings,
                                      kafka::Producer& producer);

}  // namespace penstock::sink
