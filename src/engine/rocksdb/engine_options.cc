#include "engine/rocksdb/engine_options.h"

#include <rocksdb/cache.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>

#include <algorithm>

namespace penstock::store::embedded {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// About 55,000 events. Inserting into the buffer's skip list is the larger part of a write, and
// misses the processor's caches: measured side by side with a million events present, an event
// costs 5.5 us with 16 MiB, 4.6 us with 8 MiB and 4.3 us with 4 MiB, which makes twice the files.
constexpr std::size_t kEventBuffer = 8 * kMiB;
constexpr int kEventBuffersMax = 3;  // one filling, one being flushed, one for a slow disk

constexpr std::size_t kWindowBuffer = 4 * kMiB;
constexpr std::size_t kSmallBuffer = 1 * kMiB;
constexpr int kOtherBuffersMax = 2;

// Replay of this much takes about a second at start. Without it a family that is rarely written
// (the configs) would keep every log since its last flush.
constexpr std::uint64_t kLogBytesMax = 64 * kMiB;

// Bits per event in the bloom filters: a look-up of a new event asks four or five files, and each
// reads a block in vain in 0.1 % of cases, which is about one block in a batch of 256. With a
// million events present a batch's look-up takes 151 us of processor time; with 12 bits (0.4 %) 172
// us; 24 bits gain nothing more.
constexpr double kFilterBits = 16;

rocksdb::BlockBasedTableOptions make_table_options(const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  // Filters and indexes live in the cache and so inside its bound, ahead of data blocks.
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  // The newest files are asked by every look-up; there are few of them.
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  return table;
}

// How a family is used, which decides how it is set up.
enum class Use {
  seldom,    // few records, rarely written
  again,     // the same few keys again and again: most of it never leaves the write buffer
  passing,   // most of it is gone before it is worth being made smaller
  events,    // written once, by the million; looked up by keys that mostly are new
  items,     // looked up as events are, and written again soon
  contexts,  // written as items are, read in the order of their keys
};

struct Row {
  Family family;
  const char* name;
  Use use;
};
constexpr std::array<Row, kFamilies> kRows = {{
    {Family::meta, "default", Use::seldom},
    {Family::event_slot, "event_slot", Use::events},
    {Family::slot_window, "slot_window", Use::again},
    {Family::slot_config, "slot_config", Use::seldom},
    {Family::throttle_policy, "throttle_policy", Use::seldom},
    {Family::throttle_usage, "throttle_usage", Use::again},
    {Family::queue_item, "queue_item", Use::items},
    {Family::queue_due, "queue_due", Use::passing},
    {Family::queue_context, "queue_context", Use::contexts},
    {Family::queue_settled, "queue_settled", Use::passing},
    {Family::queue_audit, "queue_audit", Use::passing},
    {Family::queue_state, "queue_state", Use::passing},
    {Family::item_type, "item_type", Use::seldom},
    {Family::slot_term, "slot_term", Use::passing},
    {Family::payment, "payment", Use::items},
    {Family::payment_order, "payment_order", Use::passing},
    {Family::gateway_quota, "gateway_quota", Use::again},
    {Family::gateway_log, "gateway_log", Use::passing},
}};

constexpr const Row& row_of(Family family) noexcept {
  return kRows[static_cast<std::size_t>(family)];
}
static_assert(std::ranges::all_of(kAllFamilies,
                                  [](Family each) { return row_of(each).family == each; }));

void insert_in_order(rocksdb::ColumnFamilyOptions& options) {
  // Batches are written in the order of their keys: start each insert where the last one ended (one
  // hint for all, hence the empty prefix) instead of at the top. Saves a tenth.
  options.memtable_insert_with_hint_prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(0));
}

void expect_new_keys(rocksdb::ColumnFamilyOptions& options) {
  // Most look-ups are of new keys: a filter over the write buffer spares them the walk down its
  // skip list. 2 % of the buffer is 24 bits an event.
  options.memtable_whole_key_filtering = true;
  options.memtable_prefix_bloom_size_ratio = 0.02;
}

void expect_millions(rocksdb::ColumnFamilyOptions& options,
                     rocksdb::BlockBasedTableOptions& table) {
  options.write_buffer_size = kEventBuffer;
  options.max_write_buffer_number = kEventBuffersMax;
  // A filter of a table is loaded whole; 16 MiB tables make that 350 KiB.
  options.target_file_size_base = 16 * kMiB;
  options.max_bytes_for_level_base = 128 * kMiB;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kFilterBits));
  insert_in_order(options);
}

}  // namespace

const char* family_name(Family family) noexcept { return row_of(family).name; }

rocksdb::DBOptions make_db_options(rocksdb::Env* env) {
  rocksdb::DBOptions options;
  if (env != nullptr) options.env = env;
  // A log may end in a record that was being written when the process died: it was never
  // acknowledged, and is dropped. Damage anywhere else would lose what was acknowledged after it,
  // so the store refuses to open instead of quietly going back in time (RocksDB's default).
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  // A closed log that is missing or shorter than it was refuses to open as well. Of the newest one
  // RocksDB knows nothing: the seal does (seal.h).
  options.track_and_verify_wals_in_manifest = true;
  options.max_total_wal_size = kLogBytesMax;
  // One flush and one compaction beside the writer: the machine may have two cores.
  options.max_background_jobs = 2;
  options.max_open_files = 512;  // the daemon's is in EmbeddedOptions
  // RocksDB would start 16 threads at every open to warm at most 16 tables.
  options.max_file_opening_threads = 2;
  // There is one writer, so the cheaper single-threaded insert is right, and nobody to yield to.
  options.allow_concurrent_memtable_write = false;
  options.enable_write_thread_adaptive_yield = false;
  // Hand finished parts of a flush or compaction to the disk early, lest the sync of the log waits
  // behind tens of megabytes.
  options.bytes_per_sync = kMiB;
  // Statistics are kept by the services; RocksDB's history of them would take a further megabyte.
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  return options;
}

std::shared_ptr<rocksdb::Cache> make_block_cache(std::size_t cache_bytes) {
  // Four shards: few threads read, and a shard must hold several filters. Eight tenths are kept for
  // filters and indexes, so that a scan does not push them out.
  return rocksdb::NewLRUCache(cache_bytes, /*num_shard_bits=*/2, /*strict_capacity_limit=*/false,
                              /*high_pri_pool_ratio=*/0.8);
}

rocksdb::ColumnFamilyOptions make_family_options(Family family,
                                                 const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions options;
  rocksdb::BlockBasedTableOptions table = make_table_options(cache);
  options.level_compaction_dynamic_level_bytes = true;  // at most 11 % of space for old versions
  options.max_write_buffer_number = kOtherBuffersMax;
  options.write_buffer_size = kSmallBuffer;
  options.compression = rocksdb::kNoCompression;  // configs and counters are small
  switch (row_of(family).use) {
    case Use::seldom:
      break;
    case Use::again:
      options.write_buffer_size = kWindowBuffer;
      break;
    case Use::passing:
      options.write_buffer_size = kWindowBuffer;
      insert_in_order(options);
      break;
    case Use::events:
      expect_millions(options, table);
      expect_new_keys(options);
      // The times and config names of neighbours are alike: about a third is saved, for less
      // processor time than the disk takes for the rest.
      options.compression = rocksdb::kLZ4Compression;
      break;
    case Use::items:
      expect_new_keys(options);
      [[fallthrough]];
    case Use::contexts:
      expect_millions(options, table);
      // The newest files are read and written again soon: compressing them is not worth it.
      options.compression_per_level = {rocksdb::kNoCompression, rocksdb::kLZ4Compression};
      break;
  }
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

}  // namespace penstock::store::embedded
