#include "store/postgres/postgres_store.h"

#include <libpq-fe.h>

#include <algorithm>
#include <utility>

#include "runtime/clocks.h"
#include "store/limits/postgres/limits.h"
#include "store/payments/postgres/payments.h"
#include "store/postgres/changes.h"
#include "store/queue/postgres/queue.h"
#include "store/quota/postgres/quotas.h"
#include "store/slots/postgres/slots.h"

namespace penstock::store::postgres {
namespace {

// A probe asks often; half a second of silence is enough of an answer.
constexpr Millis kHealthDeadline{500};

// A node that vanished in the middle of a batch lets go of its throttle keys after this long. Far
// more than the moment between the two round trips of a batch.
constexpr Millis kAbandonedBatch = Seconds{1};

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
        database(pool, options.deadline),
        health({pool, std::min(options.deadline, kHealthDeadline)}),
        retention_clock(make_retention_clock(database)),
        slots(database),
        life(make_slot_life(database)),
        configs(make_configs(database)),
        retention(make_retention(database)),
        limits({usage_pool, options.limits_deadline}),
        sweep(database),
        policies(database),
        nodes(database),
        item_news(claim_hints),
        queue(database, slots, claim_hints),
        leases(make_leases(database)),
        item_types(make_item_types(database)),
        payments(database, claim_hints),
        payment_rules(make_payment_rules(database)),
        quotas(make_quotas(database, claim_hints)),
        deliveries(make_deliveries(database)),
        usage_export(make_usage_export(database)),
        attempts(make_attempts(database)),
        send_keys(make_send_keys(database)),
        quota_ledger(make_quota_ledger(database, {epoch_pool, options.deadline})) {}

  Pool pool;
  Pool usage_pool;
  Pool epoch_pool;
  Database database;  // on `pool`
  SqlHealth<Connection> health;
  std::unique_ptr<RetentionClock> retention_clock;
  Slots slots;
  std::unique_ptr<SlotLife> life;
  std::unique_ptr<SlotConfigStore> configs;
  std::unique_ptr<SlotRetention> retention;
  Limits limits;
  Sweep sweep;
  Policies policies;
  Nodes nodes;
  ClaimHints claim_hints;
  ItemNews item_news;
  Queue queue;
  std::unique_ptr<LeaseStore> leases;
  std::unique_ptr<ItemTypeStore> item_types;
  Payments payments;
  std::unique_ptr<PaymentRuleStore> payment_rules;
  std::unique_ptr<QuotaStore> quotas;
  std::unique_ptr<DeliveryStore> deliveries;
  std::unique_ptr<UsageExport> usage_export;
  std::unique_ptr<AttemptStore> attempts;
  std::unique_ptr<SendKeys> send_keys;
  std::unique_ptr<QuotaLedger> quota_ledger;
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
    const auto lease = PENSTOCK_TRY(parts->pool.acquire(deadline));
    PENSTOCK_TRY(check_version(*lease, deadline));
  }
  parts->changes = std::make_unique<Changes>(parts->database, parts->item_news,
                                             connect_options(options), runtime::random_seed(), log);
  return std::unique_ptr<PostgresStore>(new PostgresStore(std::move(parts)));
}

Backend PostgresStore::backend() noexcept {
  return {.name = "postgres",
          .health = &parts_->health,
          .retention_clock = parts_->retention_clock.get(),
          .slots = {.store = &parts_->slots,
                    .configs = parts_->configs.get(),
                    .retention = parts_->retention.get(),
                    .life = parts_->life.get(),
                    .changes = parts_->changes.get()},
          .limits = {.store = &parts_->limits,
                     .policies = &parts_->policies,
                     .sweep = &parts_->sweep,
                     .nodes = &parts_->nodes},
          .queue = {.store = &parts_->queue,
                    .leases = parts_->leases.get(),
                    .types = parts_->item_types.get(),
                    .feed = &parts_->item_news},
          .payments = {.store = &parts_->payments, .rules = parts_->payment_rules.get()},
          .quota = {.store = parts_->quotas.get(),
                    .deliveries = parts_->deliveries.get(),
                    .usage = parts_->usage_export.get(),
                    .attempts = parts_->attempts.get(),
                    .keys = parts_->send_keys.get(),
                    .ledger = parts_->quota_ledger.get()}};
}

}  // namespace penstock::store::postgres
