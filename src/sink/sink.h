// Port: where released work goes. A sink is asked for one hand-over at a time, answers at once or
// later on a thread of its own, and never decides about pace, retries or states: it says what
// happened.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"

namespace penstock::sink {

struct Handover {
  ItemType type;
  ItemId id;
  Instant scheduled{};
  int attempt = 1;        // from 1, counted over everything
  int retry_count = 0;    // failed attempts since it was enqueued or redriven
  std::string context;    // JSON
  Millis start_delay{0};  // only for sinks that can start work later by themselves
  // It must be on its way within this time, or not at all: its turn in the pace has passed then.
  std::optional<Micros> patience = {};
};

enum class SinkOutcome : std::uint8_t {
  done,
  failed,     // may work another time
  refused,    // never will
  slow_down,  // not now; nothing is wrong with the item
  late,       // not sent, and nothing has happened: its patience had ended
};

struct SinkAnswer {
  SinkOutcome outcome = SinkOutcome::done;
  std::string detail;                   // for people: "HTTP 503", "connection refused"
  std::optional<Millis> pause = {};     // of slow_down: how long it asks for
  std::optional<Handover> unsent = {};  // of late: the item, for another turn
};

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

}  // namespace penstock::sink
