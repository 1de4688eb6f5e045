#include "store/postgres/postgres_store.h"

#include <libpq-fe.h>

#include <algorithm>
#include <utility>

#include "engine/postgres/pool.h"
#include "runtime/system_clock.h"
#include "store/limits/postgres/limits.h"
#include "store/limits/postgres/nodes.h"
#include "store/limits/postgres/policies.h"
#include "store/payments/postgres/payments.h"
#include "store/postgres/changes.h"
#include "store/postgres/progress.h"
#include "store/queue/postgres/claim_hints.h"
#include "store/queue/postgres/item_news.h"
#include "store/queue/postgres/item_types.h"
#include "store/queue/postgres/leases.h"
#include "store/queue/postgres/queue.h"
#include "store/quota/postgres/attempts.h"
#include "store/quota/postgres/deliveries.h"
#include "store/quota/postgres/quota_leases.h"
#include "store/quota/postgres/quotas.h"
#include "store/quota/postgres/send_keys.h"
#include "store/quota/postgres/usage_export.h"
#include "store/slots/postgres/configs.h"
#include "store/slots/postgres/retention.h"
#include "store/slots/postgres/slot_life.h"
#include "store/slots/postgres/slots.h"

namespace penstock::store::postgres {
namespace {

// A probe asks often; half a second of silence is enough of an answer.
constexpr Millis kHealthDeadline{500};

// A node that vanished in the middle of a batch lets go of its throttle keys after this long. Far
// more than the moment between the two round trips of a batch.
constexpr Millis kAbandonedBatch = Seconds{1};

class Health final : public StoreHealth {
 public:
  Health(Pool& pool, Millis deadline) : pool_(pool), deadline_(deadline) {}

  Result<void> check() override {
    const runtime::Deadline deadline(deadline_);
    auto lease = pool_.acquire(deadline);
    if (!lease) return std::unexpected(std::move(lease.error().error));
    auto alive = (*lease)->run({.sql = statement("ping")}, deadline);
    if (!alive) return std::unexpected(std::move(alive.error().error));
    return {};
  }

 private:
  Pool& pool_;
  const Millis deadline_;
};

// Connections for the usage of throttle keys: their calls are short, and need not wait for the
// disk.
ConnectOptions usage_options(const PostgresOptions& options) {
  ConnectOptions usage = connect_options(options);
  usage.statement_timeout = options.limits_deadline * 9 / 10;
  usage.lock_timeout = options.limits_deadline * 3 / 4;
  usage.idle_transaction_timeout = std::max(kAbandonedBatch, options.limits_deadline);
  usage.durable = false;
  return usage;
}

Pool::Settings pool_settings(const PostgresOptions& options) {
  return {.connections_max = options.connections,
          .connect_limit = options.deadline,
          .seed = runtime::random_seed()};
}

// A beat, and what somebody saw.
Pool::Settings epoch_settings(const PostgresOptions& options) {
  Pool::Settings settings = pool_settings(options);
  settings.connections_max = 2;
  return settings;
}

}  // namespace

struct PostgresStore::Parts {
  Parts(const PostgresOptions& options, Log* log)
      : pool(connect_options(options), pool_settings(options), log),
        usage_pool(usage_options(options), pool_settings(options), log),
        epoch_pool(connect_options(options), epoch_settings(options), log),
        slots(pool, options.deadline),
        life(pool, options.deadline),
        configs(pool, options.deadline),
        retention(pool, options.deadline),
        progress(pool, options.deadline),
        limits(usage_pool, options.limits_deadline),
        sweep(pool, options.deadline),
        policies(pool, options.deadline),
        nodes(pool, options.deadline),
        item_news(claim_hints),
        queue(pool, slots, claim_hints, options.deadline),
        leases(pool, options.deadline),
        item_types(pool, options.deadline),
        payments(pool, claim_hints, options.deadline),
        payment_rules(pool, options.deadline),
        quotas(pool, claim_hints, options.deadline),
        deliveries(pool, options.deadline),
        usage_export(pool, options.deadline),
        attempts(pool, options.deadline),
        send_keys(pool, options.deadline),
        quota_leases(pool, epoch_pool, options.deadline),
        health(pool, std::min(options.deadline, kHealthDeadline)) {}

  Pool pool;
  Pool usage_pool;
  Pool epoch_pool;
  Slots slots;
  Life life;
  Configs configs;
  Retention retention;
  ProgressRow progress;
  Limits limits;
  Sweep sweep;
  Policies policies;
  Nodes nodes;
  ClaimHints claim_hints;
  ItemNews item_news;
  Queue queue;
  Leases leases;
  ItemTypes item_types;
  Payments payments;
  PaymentRuleTable payment_rules;
  Quotas quotas;
  Deliveries deliveries;
  UsageExportRows usage_export;
  AttemptRows attempts;
  PostgresSendKeys send_keys;
  QuotaLeases quota_leases;
  Health health;
  std::unique_ptr<Changes> changes;  // last: its thread uses the pool
};

ConnectOptions connect_options(const PostgresOptions& options) {
  return {.url = options.url,
          .password = options.password,
          .application_name = options.application_name,
          .statement_timeout = options.deadline * 9 / 10,
          .lock_timeout = options.deadline * 3 / 4};
}

Result<void> check_url(const std::string& url) {
  char* problem = nullptr;
  PQconninfoOption* options = PQconninfoParse(url.c_str(), &problem);
  if (options != nullptr) {
    PQconninfoFree(options);
    return {};
  }
  std::string what = problem != nullptr ? problem : "out of memory";
  PQfreemem(problem);
  while (what.ends_with('\n')) what.pop_back();
  return fail(ErrorKind::invalid, std::move(what));
}

PostgresStore::PostgresStore(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}
PostgresStore::~PostgresStore() = default;

Result<std::unique_ptr<PostgresStore>> PostgresStore::open(const PostgresOptions& options,
                                                           Log* log) {
  auto parts = std::make_unique<Parts>(options, log);
  {
    const runtime::Deadline deadline(options.deadline);
    auto lease = parts->pool.acquire(deadline);
    if (!lease) return std::unexpected(std::move(lease.error().error));
    if (Result<void> fits = check_version(**lease, deadline); !fits) {
      return std::unexpected(std::move(fits.error()));
    }
  }
  parts->changes =
      std::make_unique<Changes>(parts->pool, parts->item_news, connect_options(options),
                                options.deadline, runtime::random_seed(), log);
  return std::unique_ptr<PostgresStore>(new PostgresStore(std::move(parts)));
}

Backend PostgresStore::backend() noexcept {
  return {.name = "postgres",
          .health = &parts_->health,
          .retention_clock = &parts_->progress,
          .slots = {.store = &parts_->slots,
                    .configs = &parts_->configs,
                    .retention = &parts_->retention,
                    .life = &parts_->life,
                    .changes = parts_->changes.get()},
          .limits = {.store = &parts_->limits,
                     .policies = &parts_->policies,
                     .sweep = &parts_->sweep,
                     .nodes = &parts_->nodes},
          .queue = {.store = &parts_->queue,
                    .leases = &parts_->leases,
                    .types = &parts_->item_types,
                    .feed = &parts_->item_news},
          .payments = {.store = &parts_->payments, .rules = &parts_->payment_rules},
          .quota = {.store = &parts_->quotas,
                    .deliveries = &parts_->deliveries,
                    .usage = &parts_->usage_export,
                    .attempts = &parts_->attempts,
                    .keys = &parts_->send_keys,
                    .ledger = &parts_->quota_leases}};
}

}  // namespace penstock::store::postgres
