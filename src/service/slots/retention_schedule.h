// Takes old slots out of the store at intervals, on a thread of its own.
#pragma once

#include <functional>

#include "base/log.h"
#include "base/time.h"
#include "runtime/metrics.h"
#include "runtime/threads.h"
#include "store/retention_clock.h"
#include "store/slots/ports.h"

namespace penstock::service {

struct RetentionOptions {
  Millis keep{0};  // slots whose window ended longer ago than this go
  Millis interval{0};
};

class RetentionSchedule {
 public:
  // A sink for one run: where its slots go before they are forgotten; empty = nowhere.
  using MakeSink = std::function<store::SlotRetention::Sink()>;

  // All must outlive the schedule. `retention_clock` null = by `clock` alone.
  RetentionSchedule(const RetentionOptions& options, store::SlotRetention& retention,
                    MakeSink make_sink, const Clock& clock, Log& log, runtime::Metrics& metrics,
                    store::RetentionClock* retention_clock = nullptr);

  // Ends a run under way after its step. Idempotent.
  void stop() { ticker_.stop(); }

 private:
  void run(const std::function<bool()>& should_stop);

  const Millis keep_;
  store::SlotRetention& retention_;
  const MakeSink make_sink_;
  const Clock& clock_;
  store::RetentionClock* const retention_clock_;
  Log& log_;
  runtime::Counter& pruned_;
  runtime::Ticker ticker_;  // last: its thread uses all of the above
};

}  // namespace penstock::service
