#include "store/queue/embedded/queue_encoding.h"

#include <limits>
#include <utility>

#include "engine/rocksdb/bytes.h"

namespace penstock::store::embedded {
namespace {

constexpr std::uint8_t kNoState = 0xff;
constexpr std::array<std::string_view, 8> kActions = {"ENQUEUED",        "CLAIMED",  "DISPATCHED",
                                                      "DISPATCH_FAILED", "RETURNED", "DEAD",
                                                      "CANCELLED",       "REDRIVEN"};

// Which of the times that not every item has stand in its record.
constexpr std::uint8_t kHasClaimed = 1;
constexpr std::uint8_t kHasDispatched = 2;
constexpr std::uint8_t kFlagsEnd = 4;

class QueueReader : public ByteReader {
 public:
  using ByteReader::ByteReader;

  ItemState state() {
    const auto byte = number<std::uint8_t>();
    if (byte < core::kItemStates) return static_cast<ItemState>(byte);
    refuse("has an unknown state");
    return ItemState::ready;
  }

  std::optional<ItemState> maybe_state(std::uint8_t byte) {
    if (byte == kNoState) return std::nullopt;
    if (byte < core::kItemStates) return static_cast<ItemState>(byte);
    refuse("has an unknown state");
    return std::nullopt;
  }

  int count() {
    const auto value = number<std::uint32_t>();
    if (value <= static_cast<std::uint32_t>(std::numeric_limits<int>::max())) {
      return static_cast<int>(value);
    }
    refuse("has a number out of range");
    return 0;
  }

  template <class AnyId>
  AnyId id(std::string_view text) {
    if (!id_problem(text).empty()) {
      refuse("has a malformed id");
      return {};
    }
    return AnyId::trusted(std::string(text));
  }

  void tag(char expected) {
    if (number<std::uint8_t>() != static_cast<std::uint8_t>(expected)) refuse("is of another kind");
  }
};

std::string_view cut(std::string_view text, std::size_t size) { return text.substr(0, size); }

}  // namespace

std::string batch_name(std::uint64_t claim) { return "batch-" + std::to_string(claim); }

void encode_item(const ItemRecord& record, std::string& out) {
  out.clear();
  put_number(out, kFormat);
  put_number(out, static_cast<std::uint8_t>(record.state));
  put_number(out, static_cast<std::uint8_t>((record.claimed ? kHasClaimed : 0) |
                                            (record.dispatched ? kHasDispatched : 0)));
  put_number(out, static_cast<std::uint32_t>(record.retry_count));
  put_number(out, static_cast<std::uint32_t>(record.attempts));
  put_micros(out, record.scheduled);
  put_micros(out, record.due);
  put_micros(out, record.created);
  if (record.claimed) put_micros(out, *record.claimed);
  if (record.dispatched) put_micros(out, *record.dispatched);
  put_micros(out, record.settled);
  put_number(out, record.token);
  put_number(out, record.claim);
  put_number(out, record.pages);
  out.append(record.digest.begin(), record.digest.end());
  put_long_text(out, record.last_error);
  put_long_text(out, record.trail);
}

Result<ItemRecord> decode_item(std::string_view value) {
  QueueReader reader("the record of an item", value);
  reader.format();
  ItemRecord record;
  record.state = reader.state();
  const auto flags = reader.number<std::uint8_t>();
  if (flags >= kFlagsEnd) reader.refuse("has an unknown flag");
  record.retry_count = reader.count();
  record.attempts = reader.count();
  record.scheduled = reader.micros();
  record.due = reader.micros();
  record.created = reader.micros();
  if ((flags & kHasClaimed) != 0) record.claimed = reader.micros();
  if ((flags & kHasDispatched) != 0) record.dispatched = reader.micros();
  record.settled = reader.micros();
  record.token = reader.number<std::uint64_t>();
  record.claim = reader.number<std::uint64_t>();
  record.pages = reader.number<std::uint32_t>();
  for (std::uint8_t& byte : record.digest) byte = reader.number<std::uint8_t>();
  record.last_error = reader.long_text();
  record.trail = reader.long_text();
  return reader.done(std::move(record));
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
  QueueReader reader("an audit entry", value);
  while (!reader.at_end()) {
    AuditEntry entry;
    entry.at = reader.micros();
    const auto action = reader.number<std::uint8_t>();
    if (action < kActions.size()) {
      entry.action = kActions[action];
    } else {
      reader.refuse("has an unknown action");
    }
    entry.from = reader.maybe_state(reader.number<std::uint8_t>());
    entry.to = reader.state();
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
  QueueReader reader("the key of an item's time", key);
  if (reader.text_to_nul() != type.str()) reader.refuse("is of another type");
  TimedKey timed;
  timed.at = reader.sorted_micros();
  timed.id = reader.id<ItemId>(reader.rest());
  return reader.done(std::move(timed));
}

std::string encode_settled(const SettledItem& item) {
  std::string out;
  put_number(out, kFormat);
  put_number(out, static_cast<std::uint8_t>(item.state));
  put_micros(out, item.scheduled);
  put_number(out, item.pages);
  return out;
}

Result<SettledItem> decode_settled(std::string_view value) {
  QueueReader reader("the record of a settled item", value);
  reader.format();
  SettledItem item;
  item.state = reader.state();
  if (!core::is_settled(item.state)) reader.refuse("has a state that is not settled");
  item.scheduled = reader.micros();
  item.pages = reader.number<std::uint32_t>();
  return reader.done(item);
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
  QueueReader reader("the key of a dead item", key);
  reader.tag(kDeadTag);
  if (reader.text_to_nul() != type.str()) reader.refuse("is of another type");
  TimedKey timed;
  timed.at = from_sorted_number(~reader.number<std::uint64_t>());
  timed.id = reader.id<ItemId>(reader.rest());
  return reader.done(std::move(timed));
}

Result<ItemType> decode_type_state_key(std::string_view key) {
  QueueReader reader("the key of a type's state", key);
  reader.tag(kTypeStateTag);
  auto type = reader.id<ItemType>(reader.rest());
  return reader.done(std::move(type));
}

std::string encode_type_state(const TypeState& state) {
  std::string out;
  put_number(out, kFormat);
  for (const std::uint64_t count : state.counts) put_number(out, count);
  put_number(out, state.token);
  put_number(out, state.last_claim);
  return out;
}

Result<TypeState> decode_type_state(std::string_view value) {
  QueueReader reader("the state of an item type", value);
  reader.format();
  TypeState state;
  for (std::uint64_t& count : state.counts) count = reader.number<std::uint64_t>();
  state.token = reader.number<std::uint64_t>();
  state.last_claim = reader.number<std::uint64_t>();
  return reader.done(state);
}

std::string claim_key(const ItemType& type, std::uint64_t claim) {
  std::string out = kClaimTag + queue_prefix(type);
  put_number(out, claim);
  return out;
}

Result<ClaimKey> decode_claim_key(std::string_view key) {
  QueueReader reader("the key of a claim", key);
  reader.tag(kClaimTag);
  ClaimKey claim;
  claim.type = reader.id<ItemType>(reader.text_to_nul());
  claim.claim = reader.number<std::uint64_t>();
  return reader.done(std::move(claim));
}

std::string encode_claim(const ClaimRecord& claim) {
  std::string out;
  put_number(out, kFormat);
  put_number(out, claim.token);
  put_micros(out, claim.at);
  put_number(out, static_cast<std::uint32_t>(claim.ids.size()));
  for (const ItemId& id : claim.ids) put_text(out, id.str());
  return out;
}

Result<ClaimRecord> decode_claim(std::string_view value) {
  QueueReader reader("the record of a claim", value);
  reader.format();
  ClaimRecord claim;
  claim.token = reader.number<std::uint64_t>();
  claim.at = reader.micros();
  const auto count = reader.number<std::uint32_t>();
  // Ends with the bytes, whatever the count says.
  for (std::uint32_t i = 0; i < count && !reader.at_end(); ++i) {
    claim.ids.push_back(reader.id<ItemId>(reader.text()));
  }
  if (claim.ids.size() != count) reader.refuse("is cut short");
  return reader.done(std::move(claim));
}

std::string lease_key(const ItemType& type) { return kLeaseTag + type.str(); }

std::string encode_lease(const LeaseRecord& lease) {
  std::string out;
  put_number(out, kFormat);
  put_number(out, lease.token);
  put_micros(out, lease.until);
  put_micros(out, lease.paused_until);
  put_long_text(out, lease.node);
  return out;
}

Result<LeaseRecord> decode_lease(std::string_view value) {
  QueueReader reader("the record of a lease", value);
  reader.format();
  LeaseRecord lease;
  lease.token = reader.number<std::uint64_t>();
  lease.until = reader.micros();
  lease.paused_until = reader.micros();
  lease.node = reader.long_text();
  return reader.done(std::move(lease));
}

}  // namespace penstock::store::embedded
