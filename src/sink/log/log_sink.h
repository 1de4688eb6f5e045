// The sink for trying things out: writes hand-overs to the log and calls them done. Thread-safe.
//
// A line for each of the first kLinesPerSecond of a second, then one for all the rest ("and N
// more"): nobody reads more, and a log of every item would be the slowest part of the house.
// Contexts are payloads, so only their size is written.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/describe.h"
#include "base/log.h"
#include "base/time.h"
#include "runtime/threads.h"
#include "sink/kinds.h"
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

struct LogSettings {  // there is nothing to set
  core::SinkTraits traits() const { return {}; }
};
SinkKind log_kind(Log* log);  // null = the kind can be described only

}  // namespace penstock::sink

namespace penstock {

template <>
struct Description<sink::LogSettings> {
  static constexpr std::string_view name = "LogSink";
  static constexpr std::array<FieldInfo, 0> fields = {};
};

}  // namespace penstock
