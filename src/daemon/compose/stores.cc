#include "daemon/compose/stores.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/rocksdb/folder.h"

namespace penstock::daemon {
namespace {

Result<std::unique_ptr<store::embedded::EmbeddedStore>> open_embedded(const Config& config,
                                                                      const Clock& clock,
                                                                      StoreUse use) {
  std::error_code ignored;
  if (use == StoreUse::slots_command && !std::filesystem::is_directory(config.data_dir, ignored)) {
    return fail(
        ErrorKind::not_found,
        fmt::format("there is no data folder {}; give it by --data-dir", config.data_dir.string()));
  }
  return store::embedded::EmbeddedStore::open(embedded_options(config), clock);
}

void warn_of_open_folder(const std::filesystem::path& folder, Log& log) {
  const auto open = store::embedded::open_to_others(folder);
  if (!open) return;
  log.warn("store.folder_open_to_others", {{"folder", folder.string()},
                                           {"mode", fmt::format("{:04o}", open->mode)},
                                           {"fix", open->fix}});
}

}  // namespace

Result<void> require(const store::Backend& backend, std::string_view can,
                     std::initializer_list<const void*> ports) {
  if (std::ranges::find(ports, nullptr) == ports.end()) return {};
  return fail(ErrorKind::invalid, fmt::format("the {} store cannot {}", backend.name, can));
}

std::size_t writers_of(const Config& config, StoreChoice store) noexcept {
  return store == StoreChoice::postgres ? config.postgres.connections : 1;
}

store::embedded::EmbeddedOptions embedded_options(const Config& config) {
  return {.dir = config.data_dir,
          .relaxed_durability = config.embedded.durability == Durability::relaxed,
          .cache_bytes = config.embedded.cache_bytes,
          .tables_open = config.embedded.tables_open};
}

store::postgres::PostgresOptions postgres_options(const Config& config) {
  return {.url = config.postgres.url,
          .password = config.postgres.password,
          .connections = config.postgres.connections,
          .deadline = config.postgres.deadline,
          .limits_deadline = config.throttle.deadline};
}

store::redis::RedisOptions redis_options(const Config& config) {
  return {.url = config.redis.url,
          .password = config.redis.password,
          .cluster = config.redis.cluster,
          .connections = config.redis.connections,
          .deadline = config.throttle.deadline,
          .ca_file = config.redis.ca_file.string()};
}

store::mariadb::MariadbOptions mariadb_options(const Config& config) {
  return {.url = config.mariadb.url,
          .password = config.mariadb.password,
          .connections = config.mariadb.connections,
          .deadline = config.throttle.deadline};
}

Result<Stores> Stores::open(const Config& config, const Clock& clock, Log* log, StoreUse use) {
  Stores stores(config);
  const auto used = [&](StoreChoice choice) {
    return config.slots.store == choice ||
           (use == StoreUse::daemon &&
            (config.throttle.store == choice || config.dispatch.store == choice));
  };
  if (used(StoreChoice::embedded)) {
    stores.embedded_ = PENSTOCK_TRY(open_embedded(config, clock, use));
    if (log != nullptr) warn_of_open_folder(config.data_dir, *log);
  }
  if (used(StoreChoice::postgres)) {
    stores.postgres_ =
        PENSTOCK_TRY(store::postgres::PostgresStore::open(postgres_options(config), log));
  }
  if (used(StoreChoice::mariadb)) {
    stores.mariadb_ =
        PENSTOCK_TRY(store::mariadb::MariadbStore::open(mariadb_options(config), log));
  }
  stores.has_quota_cache_ = stores.has_quota_cache_ && use == StoreUse::daemon;
  if (used(StoreChoice::redis) || stores.has_quota_cache_) {
    stores.redis_ = PENSTOCK_TRY(store::redis::RedisStore::open(redis_options(config), log));
  }
  return stores;
}

store::Backend Stores::of(StoreChoice choice) const {
  switch (choice) {
    case StoreChoice::mariadb:
      return mariadb_->backend();
    case StoreChoice::redis:
      return redis_->backend();
    case StoreChoice::postgres:
      return postgres_->backend();
    default:
      return embedded_->backend();
  }
}

std::vector<store::Backend> Stores::needed() const {
  std::vector<store::Backend> backends;
  if (embedded_) backends.push_back(embedded_->backend());
  if (postgres_) backends.push_back(postgres_->backend());
  if (mariadb_) backends.push_back(mariadb_->backend());
  // As a cache alone it can be away: then PostgreSQL does its work.
  if (redis_ && throttle_ == StoreChoice::redis) backends.push_back(redis_->backend());
  return backends;
}

}  // namespace penstock::daemon
