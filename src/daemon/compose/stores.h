// The engines that the settings name, opened: the daemon and the commands that work on a store
// directly get them here. Ports live as long as this object.
#pragma once

#include <initializer_list>
#include <memory>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "daemon/config/config.h"
#include "store/backend.h"
#include "store/embedded/store.h"
#include "store/limits/mariadb/mariadb_store.h"
#include "store/postgres/postgres_store.h"
#include "store/redis/store.h"

namespace penstock::daemon {

// Who asks: the daemon needs the stores of all services and makes a data folder that is missing; a
// command works on the slots that are there.
enum class StoreUse { daemon, slots_command };

class Stores {
 public:
  // Opens what is needed, nothing else. `clock` must outlive this; so must `log`
  // unless it is null.
  static Result<Stores> open(const Config& config, const Clock& clock, Log* log, StoreUse use);

  // Where slots are kept; where throttle keeps its policies, and its usage or what it saves of it;
  // where items wait.
  store::Backend slots() const { return of(slots_); }
  store::Backend throttle() const { return of(throttle_); }
  store::Backend dispatch() const { return of(dispatch_); }
  // Null: quotas have none.
  store::QuotaCache* quota_cache() const {
    return has_quota_cache_ ? redis_->backend().quota.cache : nullptr;
  }
  // Those without which a node cannot do its work.
  std::vector<store::Backend> needed() const;

 private:
  explicit Stores(const Config& config)
      : slots_(config.slots.store),
        throttle_(config.throttle.store),
        dispatch_(config.dispatch.store),
        has_quota_cache_(config.gateway.cache == CacheChoice::redis) {}

  store::Backend of(StoreChoice choice) const;

  StoreChoice slots_;
  StoreChoice throttle_;
  StoreChoice dispatch_;
  bool has_quota_cache_;
  std::unique_ptr<store::embedded::EmbeddedStore> embedded_;
  std::unique_ptr<store::postgres::PostgresStore> postgres_;
  std::unique_ptr<store::mariadb::MariadbStore> mariadb_;
  std::unique_ptr<store::redis::RedisStore> redis_;
};

// Every configured feature must find its ports, or the daemon does not start: `invalid` when one is
// null. `can` completes "the … store cannot".
Result<void> require(const store::Backend& backend, std::string_view can,
                     std::initializer_list<const void*> ports);

// The embedded store has one writer; PostgreSQL works on as many batches as it has connections.
std::size_t writers_of(const Config& config, StoreChoice store) noexcept;

store::embedded::EmbeddedOptions embedded_options(const Config& config);
store::postgres::PostgresOptions postgres_options(const Config& config);
store::mariadb::MariadbOptions mariadb_options(const Config& config);
store::redis::RedisOptions redis_options(const Config& config);

}  // namespace penstock::daemon
