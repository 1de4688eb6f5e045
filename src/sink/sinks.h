// Makes the sink that an item type's settings ask for. Thread-safe.
#pragma once

#include <memory>
#include <span>

#include "base/log.h"
#include "base/result.h"
#include "core/dispatch/item_type.h"
#include "engine/kafka/producer.h"
#include "sink/extension.h"
#include "sink/http/http_client.h"
#include "sink/sink.h"
#include "sink/smpp/smpp_client.h"
#include "sink/temporal/temporal_client.h"

namespace penstock::sink {

// What the sinks of a process share; must outlive them.
struct SinkContext {
  Log& log;
  HttpClient& http;
  kafka::Producer* kafka = nullptr;    // null = no brokers are set
  TemporalClient* temporal = nullptr;  // null = no address is set
  SmppClient* smpp = nullptr;          // null = nobody sends text messages
  std::span<const SinkExtension> extensions = {};
};

// `invalid` when the settings cannot be followed: a URL that is none, a server that
// the daemon was not told the address of.
Result<std::unique_ptr<Sink>> make_sink(const core::SinkSettings& settings, SinkContext& context);

}  // namespace penstock::sink
