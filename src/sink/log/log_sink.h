// The sink for trying things out: writes hand-overs to the log and calls them done. Thread-safe.
//
// A line for each of the first kLinesPerSecond of a second, then one for all the rest ("and N
// more"): nobody reads more, and a log of every item would be the slowest part of the house.
// Contexts are payloads, so only their size is written.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/log.h"
#include "base/time.h"
#include "runtime/threads.h"
#include "sink/sink.h"

namespace penstock::sink {

class LogSink final : public Sink {
 public:
  static constexpr std::uint64_t kLinesPerSecond = 100;

  // `log` must outlive the sink. Another interval than a second is for tests.
  explicit LogSink(Log& log, Millis interval = Seconds{1});
  ~LogSink() override;

  void send(Handover&& item, Done done) override;  // answers before it returns

 private:
  void sum_up();

  Log& log_;
  std::atomic<std::uint64_t> handovers_{0};  // of this second
  runtime::Ticker ticker_;                   // last: it uses all of the above
};

}  // namespace penstock::sink
