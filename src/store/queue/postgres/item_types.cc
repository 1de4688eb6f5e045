#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "store/queue/postgres/queue.h"

namespace penstock::store::postgres {
namespace {

// In the order of SinkType. Any other word is the name of an extension.
constexpr std::array<std::string_view, 5> kSinks = {"log", "http", "kafka", "temporal", "smpp"};

core::SmppSettings smpp_of(Rows::Row row) {
  return {.host = row[23],
          .port = row[24],
          .system_id = row[25],
          .password = row[26],
          .system_type = row[27],
          .source = row[28],
          .source_ton = row[29].maybe<std::int64_t>(),
          .source_npi = row[30].maybe<std::int64_t>(),
          .receipts = row[31],
          .receipt_ids = row[33]};
}

// The columns of find_settings.sql.
ItemTypeRecord record_of(Rows::Row row) {
  const std::string_view sink_name = row[15];
  const auto sink = std::ranges::find(kSinks, sink_name);
  const bool extension = sink == kSinks.end();
  core::ItemTypeSettings settings{
      .enabled = row[3],
      .batch_size = row[4],
      .dispatch_interval = Seconds{row[5].as<std::int64_t>()},
      .jitter_window = Millis{row[6].as<std::int64_t>()},
      .pre_start_buffer = std::chrono::minutes{row[7].as<std::int64_t>()},
      .max_dispatch_retries = row[8],
      .stale_claim_threshold = std::chrono::minutes{row[9].as<std::int64_t>()},
      .max_per_second = row[10].maybe<std::int64_t>(),
      .burst = row[11].maybe<std::int64_t>(),
      .retry_backoff = Millis{row[12].as<std::int64_t>()},
      .retry_backoff_max = Millis{row[13].as<std::int64_t>()},
      .max_pause = Seconds{row[14].as<std::int64_t>()},
      .sink = {.type = extension ? core::SinkType::extension
                                 : static_cast<core::SinkType>(sink - kSinks.begin()),
               .url = row[16],
               .secrets = {},
               .timeout = Millis{row[18].as<std::int64_t>()},
               .concurrency = row[19],
               .workflow_type = row[20],
               .task_queue = row[21],
               .topic = row[22],
               .smpp = smpp_of(row),
               .extension = extension ? std::string(sink_name) : std::string(),
               .options = row[32]}};
  for (const std::string_view secret : row.rows->texts(row.number, 17)) {
    settings.sink.secrets.emplace_back(secret);
  }
  return ItemTypeRecord{.type = ItemType::trusted(row[0]),
                        .version = row[1],
                        .settings = std::move(settings),
                        .changed = row[2]};
}

Call put_call(const ItemType& type, std::int64_t expected, const core::ItemTypeSettings& settings,
              std::optional<Instant> now) {
  const core::SinkSettings& sink = settings.sink;
  const std::vector<std::string_view> secrets(sink.secrets.begin(), sink.secrets.end());
  const std::string_view name = sink.type == core::SinkType::extension
                                    ? std::string_view(sink.extension)
                                    : kSinks[static_cast<std::size_t>(sink.type)];
  const auto count = [](auto duration) { return std::int64_t{duration.count()}; };
  return call("put_settings", type, expected, now, settings.enabled, settings.batch_size,
              count(settings.dispatch_interval), count(settings.jitter_window),
              count(settings.pre_start_buffer), std::int64_t{settings.max_dispatch_retries},
              count(settings.stale_claim_threshold), settings.max_per_second, settings.burst,
              count(settings.retry_backoff), count(settings.retry_backoff_max),
              count(settings.max_pause), name, sink.url, secrets, count(sink.timeout),
              sink.concurrency, sink.workflow_type, sink.task_queue, sink.topic, sink.smpp.host,
              sink.smpp.port, sink.smpp.system_id, sink.smpp.password, sink.smpp.system_type,
              sink.smpp.source, sink.smpp.source_ton, sink.smpp.source_npi, sink.smpp.receipts,
              sink.options, static_cast<std::int64_t>(sink.smpp.receipt_ids));
}

class ItemTypes final : public ItemTypeStore {
 public:
  explicit ItemTypes(Database database) : database_(database) {}

  Result<ItemTypeRecord> put(const ItemType& type, std::int64_t expected,
                             const core::ItemTypeSettings& settings,
                             std::optional<Instant> now) override {
    Call calls[] = {call("lock_settings"), put_call(type, expected, settings, now)};
    Connection::in_one(calls);
    const auto answers = PENSTOCK_TRY(database_.ask_all(calls));
    const Rows& put = answers.back();
    if (put.empty()) return fail(ErrorKind::conflict, "the settings were changed meanwhile");
    return ItemTypeRecord{
        .type = type, .version = expected + 1, .settings = settings, .changed = put[0][0]};
  }
  Result<std::optional<ItemTypeRecord>> find(const ItemType& type) override {
    std::vector<ItemTypeRecord> newest = PENSTOCK_TRY(history(type, 1));
    if (newest.empty()) return std::nullopt;
    return std::move(newest.front());
  }
  Result<std::vector<ItemTypeRecord>> list() override { return read("list_settings"); }
  Result<std::vector<ItemTypeRecord>> history(const ItemType& type, std::size_t limit) override {
    return read("find_settings", type, limit);
  }
  Result<std::uint64_t> revision() override {
    const Rows rows = PENSTOCK_TRY(database_.ask("settings_revision"));
    return rows[0][0].as<std::uint64_t>();
  }

 private:
  template <class... Values>
  Result<std::vector<ItemTypeRecord>> read(std::string_view name, const Values&... values) {
    const Rows rows = PENSTOCK_TRY(database_.ask(name, values...));
    return rows.map(record_of);
  }

  Database database_;
};

}  // namespace

std::unique_ptr<ItemTypeStore> make_item_types(Database database) {
  return std::make_unique<ItemTypes>(database);
}

}  // namespace penstock::store::postgres
