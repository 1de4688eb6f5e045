#include "service/slots/retention_schedule.h"

#include <utility>

namespace penstock::service {

RetentionSchedule::RetentionSchedule(const RetentionOptions& options,
                                     store::SlotRetention& retention, MakeSink make_sink,
                                     const Clock& clock, Log& log, runtime::Metrics& metrics,
                                     store::RetentionClock* retention_clock)
    : keep_(options.keep),
      retention_(retention),
      make_sink_(std::move(make_sink)),
      clock_(clock),
      retention_clock_(retention_clock),
      log_(log),
      pruned_(metrics.counter("penstock_slots_pruned_total",
                              "Slots that retention took out of the store")),
      ticker_("slot-prune", options.interval,
              [this](const auto& should_stop) { run(should_stop); }) {}

void RetentionSchedule::run(const std::function<bool()>& should_stop) {
  const Result<Instant> old = store::older_than(retention_clock_, clock_, keep_);
  if (!old) return log_.warn("slots.prune_failed", {{"error", old.error().what}});
  const Instant before = *old;
  const store::SlotRetention::Sink keep = make_sink_();
  const store::SlotRetention::Sink sink = [&](std::span<const core::Slot> slots) -> Result<void> {
    if (keep) {
      if (Result<void> kept = keep(slots); !kept) return kept;
    }
    pruned_.add(slots.size());
    return {};
  };
  const auto report = retention_.prune({.before = before}, sink, should_stop);
  if (!report) {
    log_.warn("slots.prune_failed", {{"before", before}, {"error", report.error().what}});
  } else if (report->slots > 0 || report->windows > 0) {
    log_.info("slots.pruned",
              {{"before", before}, {"slots", report->slots}, {"windows", report->windows}});
  }
}

}  // namespace penstock::service
