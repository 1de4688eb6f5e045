#include "store/quota/embedded/delivery_encoding.h"

#include <utility>

#include "engine/rocksdb/bytes.h"

namespace penstock::store::embedded {
namespace {

constexpr char kPartTag = 'd';
constexpr char kMessageTag = 'm';
constexpr char kExportTag = 'x';

void put_name(std::string& out, const PartName& name) {
  out += name.provider;
  out.push_back('\0');
  out += name.reference;
}

class Reader : public ByteReader {
 public:
  using ByteReader::ByteReader;

  void tag(char expected) {
    if (number<std::uint8_t>() != static_cast<std::uint8_t>(expected)) refuse("is of another kind");
  }
  PartName name() {
    PartName name;
    name.provider = text_to_nul();
    name.reference = rest();
    return name;
  }
  int part_number() {
    const auto raw = number<std::uint8_t>();
    if (raw == 0) refuse("has no part");
    return raw;
  }
  core::DeliveryState state() {
    const auto raw = number<std::uint8_t>();
    if (raw > static_cast<std::uint8_t>(core::kDeliveryStateMax)) refuse("has an unknown state");
    return static_cast<core::DeliveryState>(raw);
  }
};

}  // namespace

std::string part_key(const PartName& name) {
  std::string out(1, kPartTag);
  put_name(out, name);
  return out;
}

std::string encode_part(const PartRecord& record) {
  std::string out;
  put_number(out, kFormat);
  put_micros(out, record.written);
  put_text(out, record.message.str());
  put_number(out, static_cast<std::uint8_t>(record.part.part));
  put_number(out, static_cast<std::uint8_t>(record.part.parts));
  put_number(out, static_cast<std::uint8_t>(record.part.state));
  put_micros(out, record.part.at.value_or(Instant{}));
  put_long_text(out, record.part.detail);
  return out;
}

Result<PartRecord> decode_part(std::string_view value) {
  Reader reader("the record of a message's part", value);
  reader.format();
  PartRecord record;
  record.written = reader.micros();
  const std::string_view message = reader.text();
  if (!message.empty() && !id_problem(message).empty()) reader.refuse("has a malformed id");
  record.message = ItemId::trusted(std::string(message));
  record.part.part = reader.part_number();
  record.part.parts = reader.part_number();
  record.part.state = reader.state();
  const Instant at = reader.micros();
  if (record.part.state != core::DeliveryState::pending) record.part.at = at;
  record.part.detail = reader.long_text();
  return reader.done(std::move(record));
}

std::string message_parts_key(const ItemId& message) {
  std::string out(1, kMessageTag);
  out += message.str();
  out.push_back('\0');
  return out;
}

std::string message_part_key(const ItemId& message, const PartName& name) {
  std::string out = message_parts_key(message);
  put_name(out, name);
  return out;
}

Result<PartName> decode_message_part_key(std::string_view key) {
  Reader reader("the key of a message's part", key);
  reader.tag(kMessageTag);
  reader.text_to_nul();
  PartName name = reader.name();
  return reader.done(std::move(name));
}

std::string part_time_key(Instant written) {
  std::string out(1, kPartTimeTag);
  put_sorted_micros(out, written);
  return out;
}

std::string part_time_key(Instant written, const PartName& name) {
  std::string out = part_time_key(written);
  put_name(out, name);
  return out;
}

Result<PartTime> decode_part_time_key(std::string_view key) {
  Reader reader("the time of a message's part", key);
  reader.tag(kPartTimeTag);
  PartTime time;
  time.written = reader.sorted_micros();
  time.name = reader.name();
  return reader.done(std::move(time));
}

std::string export_key(std::string_view name) {
  std::string out(1, kExportTag);
  out += name;
  return out;
}

std::string encode_export(Instant done_to) {
  std::string out;
  put_number(out, kFormat);
  put_micros(out, done_to);
  return out;
}

Result<Instant> decode_export(std::string_view value) {
  Reader reader("the position of an export", value);
  reader.format();
  const Instant at = reader.micros();
  return reader.done(at);
}

}  // namespace penstock::store::embedded
