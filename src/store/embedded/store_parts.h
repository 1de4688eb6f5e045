// The pieces of an embedded store, put together and loaded. EmbeddedStore hides this from the other
// rooms; tests use it to run the same store on a faulty file system.
#pragma once

#include <memory>

#include "base/result.h"
#include "base/time.h"
#include "runtime/tick_clock.h"
#include "store/backend.h"
#include "store/embedded/embedded_attempts.h"
#include "store/embedded/embedded_configs.h"
#include "store/embedded/embedded_deliveries.h"
#include "store/embedded/embedded_item_types.h"
#include "store/embedded/embedded_leases.h"
#include "store/embedded/embedded_life.h"
#include "store/embedded/embedded_limit_archive.h"
#include "store/embedded/embedded_payments.h"
#include "store/embedded/embedded_policies.h"
#include "store/embedded/embedded_progress.h"
#include "store/embedded/embedded_queue.h"
#include "store/embedded/embedded_quotas.h"
#include "store/embedded/embedded_retention.h"
#include "store/embedded/embedded_send_keys.h"
#include "store/embedded/embedded_slots.h"
#include "store/embedded/embedded_usage_export.h"
#include "store/embedded/engine.h"
#include "store/embedded/writer.h"

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
