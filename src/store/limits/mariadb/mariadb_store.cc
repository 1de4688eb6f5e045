#include "store/limits/mariadb/mariadb_store.h"

#include <algorithm>
#include <utility>

#include "runtime/clocks.h"
#include "store/limits/mariadb/limits.h"

namespace penstock::store::mariadb {
namespace {

// A probe asks often; half a second of silence is enough of an answer.
constexpr Millis kHealthDeadline{500};

// A node that vanished in the middle of a batch lets go of its keys after this long. Far more than
// the moment between the two round trips of a batch, and the least that MariaDB can be told.
constexpr Millis kAbandonedBatch = Seconds{1};

ConnectOptions usage_options(const MariadbOptions& options) {
  ConnectOptions usage = connect_options(options);
  usage.statement_timeout = options.deadline * 9 / 10;
  usage.idle_transaction_timeout = kAbandonedBatch;
  return usage;
}

Pool::Settings pool_settings(const MariadbOptions& options) {
  return {.connections_max = options.connections,
          .connect_limit = options.upkeep_deadline,
          .seed = runtime::random_seed(),
          .admit = check_version};
}

}  // namespace

struct MariadbStore::Parts {
  Parts(const MariadbOptions& options, Log* log)
      : pool(connect_options(options), pool_settings(options), log),
        usage_pool(usage_options(options), pool_settings(options), nullptr),  // the other one logs
        limits({usage_pool, options.deadline}),
        sweep({pool, options.upkeep_deadline}),
        policies({pool, options.upkeep_deadline}),
        nodes({pool, options.upkeep_deadline}),
        health({pool, std::min(options.upkeep_deadline, kHealthDeadline)}) {}

  Pool pool;
  Pool usage_pool;
  Limits limits;
  Sweep sweep;
  Policies policies;
  Nodes nodes;
  SqlHealth<Connection> health;
};

Result<void> check_url(const std::string& url) {
  PENSTOCK_TRY(parse_address(url));
  return {};
}

ConnectOptions connect_options(const MariadbOptions& options) {
  ConnectOptions connect{.address = parse_address(options.url).value_or(Address{}),
                         .statement_timeout = options.upkeep_deadline * 9 / 10};
  if (!options.password.empty()) connect.address.password = options.password;
  return connect;
}

MariadbStore::MariadbStore(std::unique_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}
MariadbStore::~MariadbStore() = default;

Result<std::unique_ptr<MariadbStore>> MariadbStore::open(const MariadbOptions& options, Log* log) {
  PENSTOCK_TRY(check_url(options.url));
  auto parts = std::make_unique<Parts>(options, log);
  const auto lease = parts->pool.acquire(runtime::Deadline(options.upkeep_deadline));
  if (!lease && lease.error().error.kind == ErrorKind::conflict) {
    return std::unexpected(lease.error().error);
  }
  return std::unique_ptr<MariadbStore>(new MariadbStore(std::move(parts)));
}

Backend MariadbStore::backend() noexcept {
  return {.name = "mariadb",
          .health = &parts_->health,
          .limits = {.store = &parts_->limits,
                     .policies = &parts_->policies,
                     .sweep = &parts_->sweep,
                     .nodes = &parts_->nodes}};
}

}  // namespace penstock::store::mariadb
