// Makes the sink that an item type's settings ask for. Thread-safe.
#pragma once

#include <memory>

#include "base/log.h"
#include "base/result.h"
#include "core/dispatch/item_type.h"
#include "sink/http/http_client.h"
#include "sink/sink.h"

namespace penstock::sink {

// What the sinks of a process share; must outlive them.
struct SinkContext {
  Log& log;
  HttpClient& http;
};

// `invalid` when the settings cannot be followed: a URL that is none, a kind that this build lacks.
Result<std::unique_ptr<Sink>> make_sink(const core::SinkSettings& settings, SinkContext& context);

}  // namespace penstock::sink
