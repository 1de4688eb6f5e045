// The pieces of an embedded store, put together and loaded. EmbeddedStore hides this from the other
// rooms; tests use it to run the same store on a faulty file system.
#pragma once

#include <memory>

#include "base/result.h"
#include "base/time.h"
#include "engine/rocksdb/engine.h"
#include "runtime/tick_clock.h"
#include "store/backend.h"
#include "store/embedded/embedded_progress.h"
#include "store/embedded/writer.h"
#include "store/limits/embedded/embedded_limit_archive.h"
#include "store/limits/embedded/embedded_policies.h"
#include "store/payments/embedded/embedded_payments.h"
#include "store/queue/embedded/embedded_item_types.h"
#include "store/queue/embedded/embedded_leases.h"
#include "store/queue/embedded/embedded_queue.h"
#include "store/quota/embedded/embedded_attempts.h"
#include "store/quota/embedded/embedded_deliveries.h"
#include "store/quota/embedded/embedded_quotas.h"
#include "store/quota/embedded/embedded_send_keys.h"
#include "store/quota/embedded/embedded_usage_export.h"
#include "store/slots/embedded/embedded_configs.h"
#include "store/slots/embedded/embedded_life.h"
#include "store/slots/embedded/embedded_retention.h"
#include "store/slots/embedded/embedded_slots.h"

namespace penstock::store::embedded {

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
  EmbeddedSlots slots;
  EmbeddedConfigs configs;
  EmbeddedRetention retention;
  EmbeddedLife life;
  EmbeddedPolicies policies;
  EmbeddedLimitArchive limit_archive;
  EmbeddedQueue queue;
  EmbeddedLeases leases;
  EmbeddedItemTypes item_types;
  EmbeddedPayments payments;
  EmbeddedPaymentRules payment_rules;
  EmbeddedQuotas quotas;
  EmbeddedDeliveries deliveries;
  EmbeddedUsageExport usage_export;
  EmbeddedAttempts attempts;
  EmbeddedSendKeys send_keys;
  EmbeddedProgress progress;
  EmbeddedHealth health;
};

}  // namespace penstock::store::embedded
