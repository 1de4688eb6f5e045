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

// Column families, in the order in which the engine keeps their handles.
enum class Family : std::size_t {
  meta = 0,
  event_slot = 1,
  slot_window = 2,
  slot_config = 3,
  throttle_policy = 4,
  throttle_usage = 5,
  queue_item = 6,
  queue_due = 7,
  queue_context = 8,
  queue_settled = 9,
  queue_audit = 10,
  queue_state = 11,
  item_type = 12,
  slot_term = 13,
  payment = 14,
  payment_order = 15,
  gateway_quota = 16,
  gateway_log = 17,
};
inline constexpr std::size_t kFamilies = 18;
inline constexpr std::array kAllFamilies = {
    Family::meta,          Family::event_slot,      Family::slot_window,
    Family::slot_config,   Family::throttle_policy, Family::throttle_usage,
    Family::queue_item,    Family::queue_due,       Family::queue_context,
    Family::queue_settled, Family::queue_audit,     Family::queue_state,
    Family::item_type,     Family::slot_term,       Family::payment,
    Family::payment_order, Family::gateway_quota,   Family::gateway_log};
static_assert(kAllFamilies.size() == kFamilies);

// RocksDB wants a family called "default" to exist; it holds `meta`.
const char* family_name(Family family) noexcept;

// `env` is RocksDB's default when null; tests put a faulty one.
rocksdb::DBOptions make_db_options(rocksdb::Env* env);

std::shared_ptr<rocksdb::Cache> make_block_cache(std::size_t cache_bytes);

rocksdb::ColumnFamilyOptions make_family_options(Family family,
                                                 const std::shared_ptr<rocksdb::Cache>& cache);

}  // namespace penstock::store::embedded
