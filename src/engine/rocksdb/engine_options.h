// How RocksDB is set up: one place for every number, each with its reason. Memory is bounded by
// what stands here; store/README.md has the sum.
#pragma once

#include <rocksdb/options.h>

#include <array>
#include <cstddef>
#include <memory>

namespace rocksdb {
class Cache;
class Env;
}  // namespace rocksdb

namespace penstock::store::embedded {

// Column families, in the order in which the engine keeps their handles. What stores keep is named
// in this one place of the engine, because a database opens with all of its families at once, each
// set up for the way in which it is used: the table in engine_options.cc says which way that is.
enum class Family : std::size_t {
  meta,
  event_slot,
  slot_window,
  slot_config,
  throttle_policy,
  throttle_usage,
  queue_item,
  queue_due,
  queue_context,
  queue_settled,
  queue_audit,
  queue_state,
  item_type,
  slot_term,
  payment,
  payment_order,
  gateway_quota,
  gateway_log,
};
inline constexpr std::size_t kFamilies = 18;
inline constexpr std::array kAllFamilies = [] {
  std::array<Family, kFamilies> all{};
  for (std::size_t i = 0; i < kFamilies; ++i) all[i] = static_cast<Family>(i);
  return all;
}();

// RocksDB wants a family called "default" to exist; it holds `meta`.
const char* family_name(Family family) noexcept;

// `env` is RocksDB's default when null; tests put a faulty one.
rocksdb::DBOptions make_db_options(rocksdb::Env* env);

std::shared_ptr<rocksdb::Cache> make_block_cache(std::size_t cache_bytes);

rocksdb::ColumnFamilyOptions make_family_options(Family family,
                                                 const std::shared_ptr<rocksdb::Cache>& cache);

}  // namespace penstock::store::embedded
