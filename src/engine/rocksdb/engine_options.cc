#include "engine/rocksdb/engine_options.h"

#include <rocksdb/cache.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>

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

}  // namespace

const char* family_name(Family family) noexcept {
  switch (family) {
    case Family::meta:
      return "default";
    case Family::event_slot:
      return "event_slot";
    case Family::slot_window:
      return "slot_window";
    case Family::slot_config:
      return "slot_config";
    case Family::throttle_policy:
      return "throttle_policy";
    case Family::throttle_usage:
      return "throttle_usage";
    case Family::queue_item:
      return "queue_item";
    case Family::queue_due:
      return "queue_due";
    case Family::queue_context:
      return "queue_context";
    case Family::queue_settled:
      return "queue_settled";
    case Family::queue_audit:
      return "queue_audit";
    case Family::queue_state:
      return "queue_state";
    case Family::item_type:
      return "item_type";
    case Family::slot_term:
      return "slot_term";
    case Family::payment:
      return "payment";
    case Family::payment_order:
      return "payment_order";
    case Family::gateway_quota:
      return "gateway_quota";
    case Family::gateway_log:
      return "gateway_log";
  }
  return "";
}

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
  switch (family) {
    case Family::event_slot:
      options.write_buffer_size = kEventBuffer;
      options.max_write_buffer_number = kEventBuffersMax;
      // A filter of a table is loaded whole; 16 MiB tables make that 350 KiB.
      options.target_file_size_base = 16 * kMiB;
      options.max_bytes_for_level_base = 128 * kMiB;
      // The times and config names of neighbours are alike: about a third is saved, for less
      // processor time than the disk takes for the rest.
      options.compression = rocksdb::kLZ4Compression;
      table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kFilterBits));
      // Batches are written in the order of their keys: start each insert where the last one ended
      // (one hint for all, hence the empty prefix) instead of at the top. Saves a tenth.
      options.memtable_insert_with_hint_prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(0));
      // Most look-ups are of new events: a filter over the write buffer spares them the walk down
      // its skip list. 2 % of the buffer is 24 bits an event.
      options.memtable_whole_key_filtering = true;
      options.memtable_prefix_bloom_size_ratio = 0.02;
      break;
    case Family::slot_window:
    case Family::throttle_usage:  // the same few keys again and again: most of it never leaves it
    case Family::gateway_quota:
      options.write_buffer_size = kWindowBuffer;
      break;
    case Family::queue_item:  // looked up and written as events are
    case Family::queue_context:
    case Family::payment:
      options.write_buffer_size = kEventBuffer;
      options.max_write_buffer_number = kEventBuffersMax;
      options.target_file_size_base = 16 * kMiB;
      options.max_bytes_for_level_base = 128 * kMiB;
      // The newest files are read and written again soon: compressing them is not worth it.
      options.compression_per_level = {rocksdb::kNoCompression, rocksdb::kLZ4Compression};
      table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kFilterBits));
      options.memtable_insert_with_hint_prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(0));
      if (family != Family::queue_context) {
        options.memtable_whole_key_filtering = true;
        options.memtable_prefix_bloom_size_ratio = 0.02;
      }
      break;
    case Family::queue_due:  // most of it is gone before it is worth being made smaller
    case Family::queue_settled:
    case Family::queue_audit:
    case Family::queue_state:
    case Family::slot_term:
    case Family::payment_order:
    case Family::gateway_log:
      options.write_buffer_size = kWindowBuffer;
      options.memtable_insert_with_hint_prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(0));
      break;
    case Family::meta:
    case Family::slot_config:
    case Family::throttle_policy:
    case Family::item_type:
      break;
  }
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

}  // namespace penstock::store::embedded
