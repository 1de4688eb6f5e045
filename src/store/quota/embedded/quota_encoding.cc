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
  std::int64_t count() {
    const auto raw = number<std::uint64_t>();
    if (raw >= kSignBit) refuse("has a count out of range");
    return static_cast<std::int64_t>(raw);
  }
  void tag(char expected) {
    if (number<std::uint8_t>() != static_cast<std::uint8_t>(expected)) refuse("is of another kind");
  }
};

void put_user(std::string& out, UserId user) {
  put_number(out, static_cast<std::uint32_t>(user.raw));
}

void put_count(std::string& out, std::int64_t count) {
  put_number(out, static_cast<std::uint64_t>(count));
}

// A digest, and the id of the message that it is of.
void put_message(std::string& out, const core::BodyDigest& digest, const ItemId& id) {
  out.append(digest.begin(), digest.end());
  put_text(out, id.str());
}

void read_message(QuotaReader& reader, core::BodyDigest& digest, ItemId& id) {
  for (std::uint8_t& byte : digest) byte = reader.number<std::uint8_t>();
  const std::string_view text = reader.text();
  if (!id_problem(text).empty()) reader.refuse("has a malformed id");
  id = ItemId::trusted(std::string(text));
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

std::string encode_quota(const QuotaRecord& record) {
  std::string out;
  put_number(out, kFormat);
  put_count(out, record.quota.rule.rate_limit);
  put_count(out, record.quota.rule.window.count());
  put_count(out, record.quota.count);
  put_micros(out, record.quota.refreshed);
  put_micros(out, record.minute);
  put_count(out, record.sent);
  return out;
}

Result<QuotaRecord> decode_quota(std::string_view value) {
  QuotaReader reader("the record of a quota", value);
  reader.format();
  QuotaRecord record;
  record.quota.rule.rate_limit = reader.count();
  const std::int64_t minutes = reader.count();
  if (minutes > core::kTimeWindowMax.count()) reader.refuse("has a window out of range");
  record.quota.rule.window = core::Minutes{minutes};
  record.quota.count = reader.count();
  record.quota.refreshed = reader.micros();
  record.minute = reader.micros();
  record.sent = reader.count();
  return reader.done(record);
}

std::string send_key(UserId user, std::string_view key) {
  std::string out(1, kKeyTag);
  put_user(out, user);
  out.append(key);
  return out;
}

std::string encode_key(const KeyRecord& record) {
  std::string out;
  put_number(out, kFormat);
  put_micros(out, record.at);
  put_message(out, record.digest, record.id);
  return out;
}

Result<KeyRecord> decode_key(std::string_view value) {
  QuotaReader reader("the record of an idempotency key", value);
  reader.format();
  KeyRecord record;
  record.at = reader.micros();
  read_message(reader, record.digest, record.id);
  return reader.done(std::move(record));
}

std::string key_claim_key(UserId user, std::string_view key) {
  std::string out(1, kKeyClaimTag);
  put_user(out, user);
  out.append(key);
  return out;
}

std::string encode_key_claim(const KeyClaimRecord& record) {
  std::string out;
  put_number(out, kFormat);
  put_micros(out, record.at);
  put_number(out, static_cast<std::uint8_t>(record.left ? 1 : 0));
  put_message(out, record.digest, record.id);
  return out;
}

Result<KeyClaimRecord> decode_key_claim(std::string_view value) {
  QuotaReader reader("the record of a claimed idempotency key", value);
  reader.format();
  KeyClaimRecord record;
  record.at = reader.micros();
  const auto left = reader.number<std::uint8_t>();
  if (left > 1) reader.refuse("is neither held nor left");
  record.left = left == 1;
  read_message(reader, record.digest, record.id);
  return reader.done(std::move(record));
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

std::string encode_usage(const UsageCounts& counts) {
  std::string out;
  put_number(out, kFormat);
  put_count(out, counts.sent);
  put_count(out, counts.limited);
  put_count(out, counts.failed);
  return out;
}

Result<UsageCounts> decode_usage(std::string_view value) {
  QuotaReader reader("the record of a usage", value);
  reader.format();
  UsageCounts counts;
  counts.sent = reader.count();
  counts.limited = reader.count();
  counts.failed = reader.count();
  return reader.done(counts);
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
  put_count(out, limited);
  return out;
}

Result<std::int64_t> decode_limited(std::string_view value) {
  QuotaReader reader("the record of a usage's time", value);
  reader.format();
  const std::int64_t limited = reader.count();
  return reader.done(limited);
}

}  // namespace penstock::store::embedded
