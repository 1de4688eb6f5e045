// Hands usage on to a search engine: minutes that have ended, in order, in batches that may be
// repeated without harm. How far it is stands in the store, so that a restart goes on; nodes take
// turns. Its own thread.
//
// Counts of a minute may still change after it has ended (a node that could not write them). So the
// last minutes are looked at again for a while, and those whose counts changed are sent again.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "runtime/metrics.h"
#include "runtime/threads.h"
#include "store/quota/ports.h"

namespace penstock::service {

// What became of one batch, beyond what was taken.
struct BulkAnswer {
  std::vector<std::string> rejected;  // why; these never will be taken
  std::size_t again = 0;              // not taken now
};

// Where it goes. `send` blocks, within a time-out of its own. An error: none of it may have been
// taken; its retry_after, if any, is what the other side asked for.
using BulkTarget = std::function<Result<BulkAnswer>(std::span<const store::UserMinute>)>;

struct UsagePushOptions {
  std::string name = "opensearch";        // of the position in the store
  std::string node;                       // this life of this process
  std::size_t batch_max = 1'000;          // minutes of users in one request: some 200 KB
  Millis interval = Seconds{10};          // between two looks
  Millis settle = Seconds{5};             // after its end a minute is left alone so long
  Millis late = std::chrono::minutes{5};  // and looked at again so long
  Millis retry_first = Seconds{1};
  Millis retry_most = std::chrono::minutes{1};
  // The first time it begins with what the store still has of this.
  Millis backlog = std::chrono::days{30};
};

class UsagePush {
 public:
  // All must outlive this.
  UsagePush(UsagePushOptions options, store::UsageExport& store, BulkTarget target,
            const Clock& clock, Log& log, runtime::Metrics& metrics);
  ~UsagePush() { stop(); }

  // Ends after the request under way. Idempotent.
  void stop() { ticker_.stop(); }

 private:
  struct Counters {
    explicit Counters(runtime::Metrics& metrics);
    runtime::Counter& sent;
    runtime::Counter& rejected;
    runtime::Counter& failures;
  };
  using Sent = std::map<store::UsageMark, store::UsageCounts>;

  void tick(const std::function<bool()>& should_stop);
  // False: it did not get to the end.
  bool push(Instant from, Instant to, const std::function<bool()>& should_stop);
  bool send(std::span<const store::UserMinute> batch);
  void remember(std::span<const store::UserMinute> batch);
  bool is_known(const store::UserMinute& each) const;
  void failed(const Error& error);

  const UsagePushOptions options_;
  store::UsageExport& store_;
  const BulkTarget target_;
  const Clock& clock_;
  Log& log_;
  Counters counters_;
  runtime::Gauge& behind_;
  // The ticker's thread's.
  Sent sent_;  // of the minutes that are looked at again
  std::optional<Instant> done_to_;
  Instant not_before_{};
  int failures_ = 0;
  bool warned_ = false;
  runtime::Ticker ticker_;  // last: its thread uses all of the above
};

}  // namespace penstock::service
