// What one item type counts. Names are the predecessor's where it has one.
#pragma once

#include "base/ids.h"
#include "runtime/metrics.h"

namespace penstock::service {

struct DispatchMetrics {
  DispatchMetrics(runtime::Metrics& metrics, const ItemType& type);

  runtime::Counter& claimed;
  runtime::Counter& started;
  runtime::Counter& failures;
  runtime::Counter& slow_downs;
  runtime::Counter& late_turns;
  runtime::Histogram& cycle;
  runtime::Histogram& lateness;
  runtime::Gauge& pace_used;
  runtime::Gauge& paused;
  runtime::Gauge& lease_held;
};

}  // namespace penstock::service
