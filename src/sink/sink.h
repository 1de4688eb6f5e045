// Port: where released work goes. A sink is asked for one hand-over at a time, answers at once or
// later on a thread of its own, and never decides about pace, retries or states: it says what
// happened.
#pragma once

#include <functional>

#include "core/dispatch/handover.h"

namespace penstock::sink {

using core::Handover;
using core::SinkAnswer;
using core::SinkOutcome;

class Sink {
 public:
  using Done = std::move_only_function<void(SinkAnswer)>;

  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;  // answers what is under way as failed, then returns

  // Never blocks. `done` is called exactly once, within the sink's own time-out, on any thread; it
  // must not block.
  virtual void send(Handover&& item, Done done) = 0;
};

// A hand-over as JSON, the same for every sink that sends one:
// {itemType, itemId, scheduledTime, attempt, context}. The start ends before the context, which may
// be large and is not copied; the end follows it.
void append_envelope_start(std::string& out, const Handover& item);
inline constexpr std::string_view kEnvelopeEnd = "}";

}  // namespace penstock::sink
