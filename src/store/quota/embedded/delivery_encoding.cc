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

PartName name_of(ByteReader& reader) {
  PartName name;
  name.provider = reader.text_to_nul();
  name.reference = reader.rest();
  return name;
}

}  // namespace

std::string part_key(const PartName& name) {
  std::string out(1, kPartTag);
  put_name(out, name);
  return out;
}

void lay_out(auto& io, Is<PartRecord> auto& record) {
  io.format();
  io.micros(record.written);
  io.maybe_id(record.message);
  io.count(record.part.part);
  io.count(record.part.parts);
  io.choice(record.part.state, static_cast<std::size_t>(core::kDeliveryStateMax) + 1);
  io.presence(record.part.at);
  if (record.part.at) io.micros(*record.part.at);
  io.long_text(record.part.detail);
}

std::string encode_part(const PartRecord& record) { return encoded(record); }

Result<PartRecord> decode_part(std::string_view value) {
  return decoded<PartRecord>("the record of a message's part", value);
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
  ByteReader reader("the key of a message's part", key);
  reader.tag(kMessageTag);
  reader.text_to_nul();
  PartName name = name_of(reader);
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
  ByteReader reader("the time of a message's part", key);
  reader.tag(kPartTimeTag);
  PartTime time;
  time.written = reader.sorted_micros();
  time.name = name_of(reader);
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
  ByteReader reader("the position of an export", value);
  reader.format();
  const Instant at = reader.micros();
  return reader.done(at);
}

}  // namespace penstock::store::embedded
