#include "store/queue/postgres/item_types.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "engine/postgres/calls.h"

namespace penstock::store::postgres {
namespace {

// In the order of SinkType. Any other word is the name of an extension.
constexpr std::array<std::string_view, 5> kSinks = {"log", "http", "kafka", "temporal", "smpp"};

core::SmppSettings smpp_of(const Rows& rows, int row) {
  return {.host = std::string(rows.text(row, 23)),
          .port = rows.int8(row, 24),
          .system_id = std::string(rows.text(row, 25)),
          .password = std::string(rows.text(row, 26)),
          .system_type = std::string(rows.text(row, 27)),
          .source = std::string(rows.text(row, 28)),
          .source_ton = rows.maybe_int8(row, 29),
          .source_npi = rows.maybe_int8(row, 30),
          .receipts = rows.boolean(row, 31),
          .receipt_ids = static_cast<core::ReceiptIds>(rows.int8(row, 33))};
}

// The columns of find_settings.sql.
Result<ItemTypeRecord> record_of(const Rows& rows, int row) {
  const std::string_view sink_name = rows.text(row, 15);
  const auto sink = std::ranges::find(kSinks, sink_name);
  const bool extension = sink == kSinks.end();
  core::ItemTypeSettings settings{
      .enabled = rows.boolean(row, 3),
      .batch_size = rows.int8(row, 4),
      .dispatch_interval = Seconds{rows.int8(row, 5)},
      .jitter_window = Millis{rows.int8(row, 6)},
      .pre_start_buffer = std::chrono::minutes{rows.int8(row, 7)},
      .max_dispatch_retries = static_cast<int>(rows.int8(row, 8)),
      .stale_claim_threshold = std::chrono::minutes{rows.int8(row, 9)},
      .max_per_second = rows.maybe_int8(row, 10),
      .burst = rows.maybe_int8(row, 11),
      .retry_backoff = Millis{rows.int8(row, 12)},
      .retry_backoff_max = Millis{rows.int8(row, 13)},
      .max_pause = Seconds{rows.int8(row, 14)},
      .sink = {.type = extension ? core::SinkType::extension
                                 : static_cast<core::SinkType>(sink - kSinks.begin()),
               .url = std::string(rows.text(row, 16)),
               .secrets = {},
               .timeout = Millis{rows.int8(row, 18)},
               .concurrency = rows.int8(row, 19),
               .workflow_type = std::string(rows.text(row, 20)),
               .task_queue = std::string(rows.text(row, 21)),
               .topic = std::string(rows.text(row, 22)),
               .smpp = smpp_of(rows, row),
               .extension = extension ? std::string(sink_name) : std::string(),
               .options = std::string(rows.text(row, 32))}};
  for (const std::string_view secret : rows.texts(row, 17)) {
    settings.sink.secrets.emplace_back(secret);
  }
  return ItemTypeRecord{.type = ItemType::trusted(std::string(rows.text(row, 0))),
                        .version = rows.int8(row, 1),
                        .settings = std::move(settings),
                        .changed = from_epoch_us(rows.int8(row, 2))};
}

Params params_of(const ItemType& type, std::int64_t expected,
                 const core::ItemTypeSettings& settings, std::optional<Instant> now) {
  const core::SinkSettings& sink = settings.sink;
  const std::vector<std::string_view> secrets(sink.secrets.begin(), sink.secrets.end());
  Params params;
  params.text(type.str())
      .int8(expected)
      .int8(epoch_us(now))
      .boolean(settings.enabled)
      .int8(settings.batch_size)
      .int8(std::int64_t{settings.dispatch_interval.count()})
      .int8(std::int64_t{settings.jitter_window.count()})
      .int8(std::int64_t{settings.pre_start_buffer.count()})
      .int8(std::int64_t{settings.max_dispatch_retries})
      .int8(std::int64_t{settings.stale_claim_threshold.count()})
      .int8(settings.max_per_second)
      .int8(settings.burst)
      .int8(std::int64_t{settings.retry_backoff.count()})
      .int8(std::int64_t{settings.retry_backoff_max.count()})
      .int8(std::int64_t{settings.max_pause.count()});
  params
      .text(sink.type == core::SinkType::extension ? std::string_view(sink.extension)
                                                   : kSinks[static_cast<std::size_t>(sink.type)])
      .text(sink.url)
      .texts(secrets)
      .int8(std::int64_t{sink.timeout.count()})
      .int8(sink.concurrency)
      .text(sink.workflow_type)
      .text(sink.task_queue)
      .text(sink.topic);
  params.text(sink.smpp.host)
      .int8(sink.smpp.port)
      .text(sink.smpp.system_id)
      .text(sink.smpp.password)
      .text(sink.smpp.system_type)
      .text(sink.smpp.source)
      .int8(sink.smpp.source_ton)
      .int8(sink.smpp.source_npi)
      .boolean(sink.smpp.receipts)
      .text(sink.options)
      .int8(static_cast<std::int64_t>(sink.smpp.receipt_ids));
  return params;
}

}  // namespace

Result<ItemTypeRecord> ItemTypes::put(const ItemType& type, std::int64_t expected,
                                      const core::ItemTypeSettings& settings,
                                      std::optional<Instant> now) {
  const Call calls[] = {
      {.sql = statement("lock_settings"), .params = {}, .commit = false},
      {.sql = statement("put_settings"), .params = params_of(type, expected, settings, now)}};
  const auto rows = run_calls(pool_, calls, runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error().error);
  const Rows& put = rows->back();
  if (put.size() == 0) {
    return fail(ErrorKind::conflict, "the settings were changed meanwhile");
  }
  return ItemTypeRecord{.type = type,
                        .version = expected + 1,
                        .settings = settings,
                        .changed = from_epoch_us(put.int8(0, 0))};
}

Result<std::vector<ItemTypeRecord>> ItemTypes::read(const Call& call) {
  const auto rows = run_call(pool_, call, runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  std::vector<ItemTypeRecord> records;
  for (int row = 0; row < rows->size(); ++row) {
    Result<ItemTypeRecord> record = record_of(*rows, row);
    if (!record) return std::unexpected(std::move(record.error()));
    records.push_back(std::move(*record));
  }
  return records;
}

Result<std::optional<ItemTypeRecord>> ItemTypes::find(const ItemType& type) {
  auto newest = history(type, 1);
  if (!newest) return std::unexpected(std::move(newest.error()));
  if (newest->empty()) return std::nullopt;
  return std::move(newest->front());
}

Result<std::vector<ItemTypeRecord>> ItemTypes::list() {
  return read({.sql = statement("list_settings")});
}

Result<std::vector<ItemTypeRecord>> ItemTypes::history(const ItemType& type, std::size_t limit) {
  return read({.sql = statement("find_settings"),
               .params = Params().text(type.str()).int8(int8_of(limit))});
}

Result<std::uint64_t> ItemTypes::revision() {
  const auto rows =
      run_call(pool_, {.sql = statement("settings_revision")}, runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  return static_cast<std::uint64_t>(rows->int8(0, 0));
}

}  // namespace penstock::store::postgres
