#include "store/quota/embedded/quota_encoding.h"

#include <utility>

#include "engine/rocksdb/bytes.h"

namespace penstock::store::embedded {
namespace {

constexpr char kKeyTag = 'k';
constexpr char kUsageTag = 'u';

class QuotaReader : public ByteReader {
 public:
  using ByteReader::ByteReader;

  UserId user() {
    const auto raw = number<std::uint32_t>();
    if (raw > core::kUserIdMax) refuse("has a user out of range");
    return {static_cast<std::int32_t>(raw)};
  }
};

void put_user(std::string& out, UserId user) {
  put_number(out, static_cast<std::uint32_t>(user.raw));
}

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

std::string quota_key(UserId user) {
  std::string out;
  put_user(out, user);
  return out;
}

Result<UserId> decode_quota_key(std::string_view key) {
  QuotaReader reader("the key of a quota", key);
  const UserId user = reader.user();
  return reader.done(user);
}

void lay_out(auto& io, Is<QuotaRecord> auto& record) {
  io.format();
  io.count(record.quota.rule.rate_limit);
  io.duration(record.quota.rule.window, core::kTimeWindowMax);
  io.count(record.quota.count);
  io.micros(record.quota.refreshed);
  io.micros(record.minute);
  io.count(record.sent);
}

std::string encode_quota(const QuotaRecord& record) { return encoded(record); }

Result<QuotaRecord> decode_quota(std::string_view value) {
  return decoded<QuotaRecord>("the record of a quota", value);
}

std::string send_key(UserId user, std::string_view key) {
  std::string out(1, kKeyTag);
  put_user(out, user);
  out.append(key);
  return out;
}

void lay_out(auto& io, Is<KeyRecord> auto& record) {
  io.format();
  io.micros(record.at);
  io.bytes(record.digest);
  io.id(record.id);
}

std::string encode_key(const KeyRecord& record) { return encoded(record); }

Result<KeyRecord> decode_key(std::string_view value) {
  return decoded<KeyRecord>("the record of an idempotency key", value);
}

std::string key_claim_key(UserId user, std::string_view key) {
  std::string out(1, kKeyClaimTag);
  put_user(out, user);
  out.append(key);
  return out;
}

void lay_out(auto& io, Is<KeyClaimRecord> auto& record) {
  io.format();
  io.micros(record.at);
  io.flag(record.left);
  io.bytes(record.digest);
  io.id(record.id);
}

std::string encode_key_claim(const KeyClaimRecord& record) { return encoded(record); }

Result<KeyClaimRecord> decode_key_claim(std::string_view value) {
  return decoded<KeyClaimRecord>("the record of a claimed idempotency key", value);
}

std::string key_time_key(Instant at, UserId user, std::string_view key) {
  std::string out(1, kKeyTimeTag);
  put_sorted_micros(out, at);
  put_user(out, user);
  out.append(key);
  return out;
}

Result<KeyPlace> decode_key_time_key(std::string_view key) {
  QuotaReader reader("the key of an idempotency key's time", key);
  reader.tag(kKeyTimeTag);
  KeyPlace place;
  place.at = reader.sorted_micros();
  place.user = reader.user();
  place.key = std::string(reader.rest());
  return reader.done(std::move(place));
}

std::string usage_key(UserId user, Instant minute) {
  std::string out(1, kUsageTag);
  put_user(out, user);
  put_sorted_micros(out, minute);
  return out;
}

Result<UsagePlace> decode_usage_key(std::string_view key) {
  QuotaReader reader("the key of a usage", key);
  reader.tag(kUsageTag);
  UsagePlace place;
  place.user = reader.user();
  place.minute = reader.sorted_micros();
  return reader.done(place);
}

void lay_out(auto& io, Is<UsageCounts> auto& counts) {
  io.format();
  io.count(counts.sent);
  io.count(counts.limited);
  io.count(counts.failed);
}

std::string encode_usage(const UsageCounts& counts) { return encoded(counts); }

Result<UsageCounts> decode_usage(std::string_view value) {
  return decoded<UsageCounts>("the record of a usage", value);
}

std::string usage_time_key(Instant minute) {
  std::string out(1, kUsageTimeTag);
  put_sorted_micros(out, minute);
  return out;
}

std::string usage_time_key(Instant minute, UserId user) {
  std::string out = usage_time_key(minute);
  put_user(out, user);
  return out;
}

Result<UsagePlace> decode_usage_time_key(std::string_view key) {
  QuotaReader reader("the key of a usage's time", key);
  reader.tag(kUsageTimeTag);
  UsagePlace place;
  place.minute = reader.sorted_micros();
  place.user = reader.user();
  return reader.done(place);
}

std::string encode_limited(std::int64_t limited) {
  std::string out;
  put_number(out, kFormat);
  put_signed(out, limited);
  return out;
}

Result<std::int64_t> decode_limited(std::string_view value) {
  QuotaReader reader("the record of a usage's time", value);
  reader.format();
  std::int64_t limited = 0;
  reader.count(limited);
  return reader.done(limited);
}

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
