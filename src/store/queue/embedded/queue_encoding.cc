#include "store/queue/embedded/queue_encoding.h"

#include <limits>
#include <utility>

#include "engine/rocksdb/bytes.h"
#include "wire/described.h"

namespace penstock::store::embedded {
namespace {

constexpr std::uint8_t kNoState = 0xff;
constexpr std::array<std::string_view, 8> kActions = {"ENQUEUED",        "CLAIMED",  "DISPATCHED",
                                                      "DISPATCH_FAILED", "RETURNED", "DEAD",
                                                      "CANCELLED",       "REDRIVEN"};

std::string_view cut(std::string_view text, std::size_t size) { return text.substr(0, size); }

}  // namespace

std::string batch_name(std::uint64_t claim) { return "batch-" + std::to_string(claim); }

void lay_out(auto& io, Is<ItemRecord> auto& item) {
  io.format();
  io.choice(item.state, core::kItemStates);
  io.presence(item.claimed, item.dispatched);
  io.count(item.retry_count);
  io.count(item.attempts);
  io.micros(item.scheduled);
  io.micros(item.due);
  io.micros(item.created);
  if (item.claimed) io.micros(*item.claimed);
  if (item.dispatched) io.micros(*item.dispatched);
  io.micros(item.settled);
  io.number(item.token);
  io.number(item.claim);
  io.number(item.pages);
  io.bytes(item.digest);
  io.long_text(item.last_error);
  io.long_text(item.trail);
}

void encode_item(const ItemRecord& record, std::string& out) {
  out.clear();
  ByteWriter io(out);
  lay_out(io, record);
}

Result<ItemRecord> decode_item(std::string_view value) {
  return decoded<ItemRecord>("the record of an item", value);
}

void put_audit(std::string& out, const AuditNote& note) {
  put_micros(out, note.at);
  put_number(out, static_cast<std::uint8_t>(note.action));
  put_number(out, note.from ? static_cast<std::uint8_t>(*note.from) : kNoState);
  put_number(out, static_cast<std::uint8_t>(note.to));
  put_long_text(out, cut(note.batch_id, kIdBytesMax));
  put_long_text(out, cut(note.detail, kDetailBytesMax));
}

Result<void> decode_audit(std::string_view value, std::vector<AuditEntry>& entries) {
  ByteReader reader("an audit entry", value);
  while (!reader.at_end()) {
    AuditEntry entry;
    entry.at = reader.micros();
    std::size_t action = 0;
    reader.choice(action, kActions.size());
    entry.action = kActions[action];
    if (const auto from = reader.number<std::uint8_t>(); from < core::kItemStates) {
      entry.from = static_cast<ItemState>(from);
    } else if (from != kNoState) {
      reader.refuse("has an unknown state");
    }
    reader.choice(entry.to, core::kItemStates);
    entry.batch_id = reader.long_text();
    entry.detail = reader.long_text();
    entries.push_back(std::move(entry));
  }
  PENSTOCK_TRY(reader.done(0));
  return {};
}

std::string queue_prefix(const ItemType& type) { return type.str() + '\0'; }

void item_key(const ItemType& type, const ItemId& id, std::string& out) {
  out.assign(type.str());
  out.push_back('\0');
  out.append(id.str());
}

std::string item_key(const ItemType& type, const ItemId& id) {
  std::string out;
  item_key(type, id, out);
  return out;
}

void timed_key(const ItemType& type, Instant at, std::string_view id, std::string& out) {
  out.assign(type.str());
  out.push_back('\0');
  put_sorted_micros(out, at);
  out.append(id);
}

std::string timed_key(const ItemType& type, Instant at, std::string_view id) {
  std::string out;
  timed_key(type, at, id, out);
  return out;
}

std::string audit_key(const ItemType& type, const ItemId& id, std::uint32_t page) {
  std::string out = item_key(type, id);
  out.push_back('\0');
  put_number(out, page);
  return out;
}

Result<TimedKey> decode_timed_key(const ItemType& type, std::string_view key) {
  ByteReader reader("the key of an item's time", key);
  if (reader.text_to_nul() != type.str()) reader.refuse("is of another type");
  TimedKey timed;
  timed.at = reader.sorted_micros();
  timed.id = reader.id_of<ItemId>(reader.rest());
  return reader.done(std::move(timed));
}

void lay_out(auto& io, Is<SettledItem> auto& item) {
  io.format();
  io.choice(item.state, core::kItemStates);
  io.micros(item.scheduled);
  io.number(item.pages);
}

std::string encode_settled(const SettledItem& item) { return encoded(item); }

Result<SettledItem> decode_settled(std::string_view value) {
  const auto item = PENSTOCK_TRY(decoded<SettledItem>("the record of a settled item", value));
  if (core::is_settled(item.state)) return item;
  return fail(ErrorKind::corrupt, "the record of a settled item has a state that is not settled");
}

std::string type_state_key(const ItemType& type) { return kTypeStateTag + type.str(); }

std::string dead_prefix(const ItemType& type) { return kDeadTag + type.str() + '\0'; }

std::string dead_key(const ItemType& type, Instant died, std::string_view id) {
  std::string out = dead_prefix(type);
  put_number(out, ~sorted_number(died));
  out.append(id);
  return out;
}

Result<TimedKey> decode_dead_key(const ItemType& type, std::string_view key) {
  ByteReader reader("the key of a dead item", key);
  reader.tag(kDeadTag);
  if (reader.text_to_nul() != type.str()) reader.refuse("is of another type");
  TimedKey timed;
  timed.at = from_sorted_number(~reader.number<std::uint64_t>());
  timed.id = reader.id_of<ItemId>(reader.rest());
  return reader.done(std::move(timed));
}

Result<ItemType> decode_type_state_key(std::string_view key) {
  ByteReader reader("the key of a type's state", key);
  reader.tag(kTypeStateTag);
  auto type = reader.id_of<ItemType>(reader.rest());
  return reader.done(std::move(type));
}

void lay_out(auto& io, Is<TypeState> auto& state) {
  io.format();
  for (auto& count : state.counts) io.number(count);
  io.number(state.token);
  io.number(state.last_claim);
}

std::string encode_type_state(const TypeState& state) { return encoded(state); }

Result<TypeState> decode_type_state(std::string_view value) {
  return decoded<TypeState>("the state of an item type", value);
}

std::string claim_key(const ItemType& type, std::uint64_t claim) {
  std::string out = kClaimTag + queue_prefix(type);
  put_number(out, claim);
  return out;
}

Result<ClaimKey> decode_claim_key(std::string_view key) {
  ByteReader reader("the key of a claim", key);
  reader.tag(kClaimTag);
  ClaimKey claim;
  claim.type = reader.id_of<ItemType>(reader.text_to_nul());
  claim.claim = reader.number<std::uint64_t>();
  return reader.done(std::move(claim));
}

void lay_out(auto& io, Is<ClaimRecord> auto& claim) {
  io.format();
  io.number(claim.token);
  io.micros(claim.at);
  io.ids(claim.ids);
}

std::string encode_claim(const ClaimRecord& claim) { return encoded(claim); }

Result<ClaimRecord> decode_claim(std::string_view value) {
  return decoded<ClaimRecord>("the record of a claim", value);
}

std::string lease_key(const ItemType& type) { return kLeaseTag + type.str(); }

void lay_out(auto& io, Is<LeaseRecord> auto& lease) {
  io.format();
  io.number(lease.token);
  io.micros(lease.until);
  io.micros(lease.paused_until);
  io.long_text(lease.node);
}

std::string encode_lease(const LeaseRecord& lease) { return encoded(lease); }

Result<LeaseRecord> decode_lease(std::string_view value) {
  return decoded<LeaseRecord>("the record of a lease", value);
}

std::string item_type_key(const ItemType& type) { return type.str() + '\0'; }

std::string item_type_key(const ItemType& type, std::int64_t version) {
  std::string out = item_type_key(type);
  put_number(out, ~static_cast<std::uint64_t>(version));
  return out;
}

std::string encode_item_type(const ItemTypeRecord& record) {
  std::string out;
  put_number(out, kFormat);
  put_micros(out, record.changed);
  out += wire::to_document(record.settings);
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
  PENSTOCK_TRY(key_reader.done(0));

  ByteReader reader("the record of an item type", value);
  reader.format();
  record.changed = reader.micros();
  const std::string_view document = PENSTOCK_TRY(reader.done(reader.rest()));
  record.settings = PENSTOCK_TRY(wire::from_document<core::ItemTypeSettings>(document));
  return record;
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
