#include "service/dispatch/dispatch_metrics.h"

namespace penstock::service {
namespace {

runtime::Metrics::Labels labels_of(const ItemType& type) { return {{"item_type", type.str()}}; }

}  // namespace

DispatchMetrics::DispatchMetrics(runtime::Metrics& metrics, const ItemType& type)
    : claimed(metrics.counter("dispatch_batch_claimed_total", "Items claimed for dispatch",
                              labels_of(type))),
      started(
          metrics.counter("dispatch_workflow_started_total", "Items handed over", labels_of(type))),
      failures(metrics.counter("dispatch_workflow_start_failures_total",
                               "Hand-overs that failed or were refused", labels_of(type))),
      slow_downs(metrics.counter("dispatch_slow_downs_total",
                                 "Answers of the sink that asked for a pause", labels_of(type))),
      late_turns(metrics.counter("dispatch_late_turns_total",
                                 "Hand-overs that could not leave in their turn and took another",
                                 labels_of(type))),
      cycle(metrics.histogram("dispatch_cycle_duration_seconds",
                              "Time from the claim of a batch until all of it was settled",
                              {0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120},
                              labels_of(type))),
      lateness(metrics.histogram(
          "dispatch_lateness_seconds", "Time from when an item was due until it was handed over",
          {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 60, 600, 3'600},
          labels_of(type))),
      pace_used(metrics.gauge("dispatch_pace_used_ratio",
                              "Hand-overs of the last seconds, as a share of maxPerSecond",
                              labels_of(type))),
      paused(metrics.gauge("dispatch_paused", "1 while the sink has asked for a pause",
                           labels_of(type))),
      lease_held(metrics.gauge("dispatch_lease_held", "1 while this node dispatches the type",
                               labels_of(type))) {}

}  // namespace penstock::service
