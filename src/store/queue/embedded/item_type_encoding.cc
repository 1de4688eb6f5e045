#include "store/queue/embedded/item_type_encoding.h"

#include <limits>
#include <utility>

#include "engine/rocksdb/bytes.h"

namespace penstock::store::embedded {
namespace {

void put_maybe(std::string& out, const std::optional<std::int64_t>& value) {
  put_number(out, static_cast<std::uint8_t>(value.has_value()));
  if (value) put_signed(out, *value);
}

class ItemTypeReader : public ByteReader {
 public:
  using ByteReader::ByteReader;

  std::int64_t integer() { return static_cast<std::int64_t>(number<std::uint64_t>()); }

  bool flag() {
    const auto byte = number<std::uint8_t>();
    if (byte > 1) refuse("has a flag that is neither set nor clear");
    return byte == 1;
  }

  std::optional<std::int64_t> maybe() {
    if (!flag()) return std::nullopt;
    return integer();
  }

  // A duration; what is out of any range would overflow before the rules could refuse it.
  template <class Duration>
  Duration duration() {
    constexpr std::int64_t kMax = 1'000'000'000;  // ms: eleven days; longer than any rule allows
    const std::int64_t value = integer();
    if (value >= 0 && value <= kMax) return Duration{value};
    refuse("has a duration out of range");
    return Duration{0};
  }

  core::SinkType sink_type() {
    const auto byte = number<std::uint8_t>();
    if (byte == static_cast<std::uint8_t>(core::SinkType::extension)) {
      return core::SinkType::extension;
    }
    if (byte <= static_cast<std::uint8_t>(core::SinkType::smpp)) {
      return static_cast<core::SinkType>(byte);
    }
    refuse("has a sink this version does not know");
    return core::SinkType::log;
  }

  core::SinkSettings sink() {
    core::SinkSettings sink;
    sink.type = sink_type();
    sink.url = long_text();
    const auto secrets = number<std::uint8_t>();
    for (std::uint8_t i = 0; i < secrets && !at_end(); ++i) sink.secrets.emplace_back(long_text());
    sink.timeout = duration<Millis>();
    sink.concurrency = integer();
    sink.workflow_type = long_text();
    sink.task_queue = long_text();
    sink.topic = long_text();
    // Behind what all have had from the beginning; older versions do not know these types.
    if (sink.type == core::SinkType::smpp) sink.smpp = smpp();
    if (sink.type == core::SinkType::extension) {
      sink.extension = long_text();
      sink.options = long_text();
    }
    return sink;
  }

  core::SmppSettings smpp() {
    core::SmppSettings smpp;
    smpp.host = long_text();
    smpp.port = integer();
    smpp.system_id = long_text();
    smpp.password = long_text();
    smpp.system_type = long_text();
    smpp.source = long_text();
    smpp.source_ton = maybe();
    smpp.source_npi = maybe();
    // One byte, which had only the flag before.
    const auto receipts = number<std::uint8_t>();
    smpp.receipts = (receipts & 1) != 0;
    if (receipts >> 1 >= core::kReceiptIds.size()) refuse("has ids of receipts that nobody knows");
    smpp.receipt_ids = static_cast<core::ReceiptIds>(receipts >> 1);
    return smpp;
  }
};

void put_smpp(std::string& out, const core::SmppSettings& smpp) {
  put_long_text(out, smpp.host);
  put_signed(out, smpp.port);
  put_long_text(out, smpp.system_id);
  put_long_text(out, smpp.password);
  put_long_text(out, smpp.system_type);
  put_long_text(out, smpp.source);
  put_maybe(out, smpp.source_ton);
  put_maybe(out, smpp.source_npi);
  put_number(out, static_cast<std::uint8_t>((smpp.receipts ? 1 : 0) |
                                            static_cast<int>(smpp.receipt_ids) << 1));
}

void put_sink(std::string& out, const core::SinkSettings& sink) {
  put_number(out, static_cast<std::uint8_t>(sink.type));
  put_long_text(out, sink.url);
  put_number(out, static_cast<std::uint8_t>(sink.secrets.size()));
  for (const std::string& secret : sink.secrets) put_long_text(out, secret);
  put_signed(out, sink.timeout.count());
  put_signed(out, sink.concurrency);
  put_long_text(out, sink.workflow_type);
  put_long_text(out, sink.task_queue);
  put_long_text(out, sink.topic);
  if (sink.type == core::SinkType::extension) {
    put_long_text(out, sink.extension);
    put_long_text(out, sink.options);
  }
  if (sink.type == core::SinkType::smpp) put_smpp(out, sink.smpp);
}

}  // namespace

std::string item_type_key(const ItemType& type) { return type.str() + '\0'; }

std::string item_type_key(const ItemType& type, std::int64_t version) {
  std::string out = item_type_key(type);
  put_number(out, ~static_cast<std::uint64_t>(version));
  return out;
}

std::string encode_item_type(const ItemTypeRecord& record) {
  const core::ItemTypeSettings& settings = record.settings;
  std::string out;
  put_number(out, kFormat);
  put_micros(out, record.changed);
  put_number(out, static_cast<std::uint8_t>(settings.enabled));
  put_signed(out, settings.batch_size);
  put_signed(out, settings.dispatch_interval.count());
  put_signed(out, settings.jitter_window.count());
  put_signed(out, settings.pre_start_buffer.count());
  put_signed(out, settings.max_dispatch_retries);
  put_signed(out, settings.stale_claim_threshold.count());
  put_maybe(out, settings.max_per_second);
  put_maybe(out, settings.burst);
  put_signed(out, settings.retry_backoff.count());
  put_signed(out, settings.retry_backoff_max.count());
  put_signed(out, settings.max_pause.count());
  put_sink(out, settings.sink);
  return out;
}

Result<ItemTypeRecord> decode_item_type(std::string_view key, std::string_view value) {
  ItemTypeRecord record;
  ByteReader key_reader("the key of an item type", key);
  const std::string_view name = key_reader.text_to_nul();
  if (!id_problem(name).empty()) key_reader.refuse("has a malformed id");
  record.type = ItemType::trusted(std::string(name));
  const std::uint64_t version = ~key_reader.number<std::uint64_t>();
  if (version == 0 || version > kVersionMax) key_reader.refuse("has a version out of range");
  record.version = static_cast<std::int64_t>(version);
  if (Result<int> end = key_reader.done(0); !end) return std::unexpected(std::move(end.error()));

  ItemTypeReader reader("the record of an item type", value);
  core::ItemTypeSettings& settings = record.settings;
  reader.format();
  record.changed = reader.micros();
  settings.enabled = reader.flag();
  settings.batch_size = reader.integer();
  settings.dispatch_interval = reader.duration<Seconds>();
  settings.jitter_window = reader.duration<Millis>();
  settings.pre_start_buffer = reader.duration<std::chrono::minutes>();
  const std::int64_t retries = reader.integer();
  settings.max_dispatch_retries =
      retries > std::numeric_limits<int>::max() ? 0 : static_cast<int>(retries);
  settings.stale_claim_threshold = reader.duration<std::chrono::minutes>();
  settings.max_per_second = reader.maybe();
  settings.burst = reader.maybe();
  settings.retry_backoff = reader.duration<Millis>();
  settings.retry_backoff_max = reader.duration<Millis>();
  settings.max_pause = reader.duration<Seconds>();
  settings.sink = reader.sink();
  if (!core::check_item_type(settings)) reader.refuse("breaks a rule of item types");
  return reader.done(std::move(record));
}

std::string encode_item_type_revision(std::uint64_t revision) {
  std::string out;
  put_number(out, kFormat);
  put_number(out, revision);
  return out;
}

Result<std::uint64_t> decode_item_type_revision(std::string_view value) {
  ByteReader reader("the revision of the item types", value);
  reader.format();
  const auto revision = reader.number<std::uint64_t>();
  return reader.done(revision);
}

}  // namespace penstock::store::embedded
