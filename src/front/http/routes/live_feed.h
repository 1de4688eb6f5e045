// What the console draws, sampled once a second for all its viewers: totals of the metrics, what
// each item type does, and whether stores answer. The last hour is kept.
//
// An event of the stream is one sample: `event: sample`, data {t, c, types, checks}; `c` are the
// columns in the order of kColumns. What came before a viewer does is one event, `event: history`,
// data {columns, rows: [[t, …c]]}: the last minutes second by second, the rest of the hour at every
// tenth. Totals are as in the metrics, ever growing, so a viewer makes rates of any two of them.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "front/http/http.h"
#include "front/http/routes/routes.h"
#include "runtime/metrics.h"

namespace penstock::front {

class LiveFeed {
 public:
  static constexpr std::array<std::string_view, 22> kColumns = {
      "allowed",      "denied",       "shadowDenied",  "throttleErrors",
      "throttleKeys", "assigned",     "assignSeconds", "slotDelaySeconds",
      "slotsGiven",   "slotFailures", "dispatched",    "failed",
      "lateSeconds",  "lateItems",    "READY",         "CLAIMED",
      "DISPATCHED",   "DEAD",         "CANCELLED",     "requests",
      "serverErrors", "connections"};

  // `metrics` and `clock` must outlive the feed. What the checks say becomes a metric too, one
  // series for each; one that does not apply counts as good.
  LiveFeed(runtime::Metrics& metrics, std::vector<ReadyCheck> checks, const Clock& clock);

  // Takes a sample; call it once a second, on one thread. The event is for HttpServer::publish.
  SharedEvent sample();

  // `GET /admin/events`: the history, then the events. On any thread.
  Response open() const;

 private:
  using Row = std::array<double, kColumns.size()>;
  struct Type;
  struct Sample {
    std::int64_t millis = 0;
    Row row{};
  };
  static constexpr std::size_t kKept = 3'600;       // samples: an hour
  static constexpr std::size_t kEverySecond = 180;  // of them sent one by one
  static constexpr std::uint64_t kStride = 10;      // of the rest, one in so many

  std::string encode(const Sample& sample, const std::vector<Type>& types) const;

  const runtime::Metrics& metrics_;
  const std::vector<ReadyCheck> checks_;
  std::vector<runtime::Gauge*> checks_up_;  // one for each of checks_
  const Clock& clock_;

  mutable std::mutex mutex_;
  std::uint64_t number_ = 0;  // guarded by mutex_: of the newest sample
  std::deque<Sample> kept_;   // guarded by mutex_, oldest first
};

}  // namespace penstock::front
