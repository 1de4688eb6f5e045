// A hand-over as JSON, the same for every sink that sends one:
// {itemType, itemId, scheduledTime, attempt, context}. Pure.
#pragma once

#include <string>
#include <string_view>

#include "sink/sink.h"

namespace penstock::sink {

// What stands before the context; the end follows it.
void append_envelope_start(std::string& out, const Handover& item);
inline constexpr std::string_view kEnvelopeEnd = "}";

}  // namespace penstock::sink
