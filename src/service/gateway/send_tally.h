// What came of attempts to send: the metrics, and the usage of each user, gathered to be written
// in batches. Thread-safe.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/time.h"
#include "runtime/metrics.h"
#include "service/gateway/usage_log.h"
#include "store/quota/ports.h"

namespace penstock::service {

// Who counts what is sent: the step of the store that takes it, or the tally.
enum class SentCount : std::uint8_t { by_store, by_tally };

class SendTally {
 public:
  // Both must outlive this.
  SendTally(store::QuotaStore& quotas, runtime::Metrics& metrics);

  void count(core::UserId user, const Result<store::Sent>& answer, Instant now, SentCount sent);

  UsageLog& usage() noexcept { return usage_; }

 private:
  runtime::Counter& sent_;
  runtime::Counter& repeated_;
  runtime::Counter& limited_;
  runtime::Counter& conflict_;
  runtime::Counter& unknown_user_;
  runtime::Counter& failed_;
  runtime::Counter& uncounted_;
  UsageLog usage_;
};

}  // namespace penstock::service
