// The pieces of an embedded store, put together and loaded. EmbeddedStore hides this from the other
// rooms; tests use it to run the same store on a faulty file system.
#pragma once

#include <memory>

#include "base/result.h"
#include "base/time.h"
#include "engine/rocksdb/engine.h"
#include "runtime/tick_clock.h"
#include "store/backend.h"
#include "store/embedded/writer.h"
#include "store/limits/embedded/limits.h"
#include "store/payments/embedded/payments.h"
#include "store/queue/embedded/queue.h"
#include "store/quota/embedded/quota.h"
#include "store/slots/embedded/slots.h"

namespace penstock::store::embedded {

// RetentionClock by the writer's record of progress.
class EmbeddedProgress final : public RetentionClock {
 public:
  explicit EmbeddedProgress(Writer& writer) : writer_(writer) {}

  Result<Instant> older_than(Millis keep) override;

 private:
  Writer& writer_;
};

class EmbeddedHealth final : public StoreHealth {
 public:
  explicit EmbeddedHealth(Writer& writer) : writer_(writer) {}
  Result<void> check() override;
  std::string note() override;

 private:
  Writer& writer_;
};

struct StoreParts {
  // `monotonic` is for tests.
  static Result<std::unique_ptr<StoreParts>> open(
      const EngineOptions& options, const Clock& clock,
      ProgressRecord::MonotonicSource monotonic = runtime::monotonic_micros);
  StoreParts(std::unique_ptr<Engine> engine_in, const Clock& clock,
             ProgressRecord::MonotonicSource monotonic);

  Backend backend() noexcept;

  std::unique_ptr<Engine> engine;
  Writer writer;
  EmbeddedSlots slots{writer};
  EmbeddedConfigs configs{writer};
  EmbeddedRetention retention{writer};
  EmbeddedLife life{writer};
  EmbeddedPolicies policies{writer};
  EmbeddedLimitArchive limit_archive{writer};
  EmbeddedQueue queue{writer};
  EmbeddedLeases leases{writer};
  EmbeddedItemTypes item_types{writer};
  EmbeddedPayments payments{writer};
  EmbeddedPaymentRules payment_rules{writer};
  EmbeddedQuotas quotas{writer};
  EmbeddedDeliveries deliveries{writer};
  EmbeddedUsageExport usage_export{writer};
  EmbeddedAttempts attempts{writer};
  EmbeddedSendKeys send_keys{writer};
  EmbeddedProgress progress{writer};
  EmbeddedHealth health{writer};
};

}  // namespace penstock::store::embedded
