// The bytes of items that wait, of their claims and of leases; as encoding.h for the rest. Pure.
//
//   queue_item     type, NUL, id                         -> kFormat record, its newest audit
//   entries queue_due      type, NUL, due us, id                 -> the record; READY items only
//   queue_context  type, NUL, scheduled us, id           -> the context, as it came
//   queue_settled  type, NUL, settled us, id             -> kFormat state, scheduled, audit pages
//   queue_audit    type, NUL, id, NUL, u32 page          -> audit entries, oldest first
//   queue_state    't', type                             -> kFormat counts, newest token, claims
//                  'c', type, NUL, u64 claim             -> kFormat token, time, ids
//                  'l', type                             -> kFormat lease
//                  'd', type, NUL, ~died us, id          -> kFormat; DEAD items, the newest first
//   item_type      type, NUL, u64 ~version               -> kFormat time document; newest first
//   meta           "item_type_revision"                  -> kFormat u64
//
// A claim is written once for all its items: it takes them out of queue_due and leaves their
// records as they are. So an item whose record is READY and that is not in queue_due is CLAIMED, by
// the newest claim that names it. Only an item that is claimed again, or whose trail is full, gets
// a record that says so itself.
//
// The record stands in queue_due too, so that a claim reads one run of neighbours and looks no item
// up; and contexts lie in the order of their time for the same reason. Audit entries stay in the
// record until they are kTrailBytesMax, then they move out as a page that is never written again:
// most items never need one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/queue/ports.h"

namespace penstock::store::embedded {

// ENQUEUED, CLAIMED and DISPATCHED with their batch and a short answer take about 110 bytes; a
// record that is written again with each step should not be much larger.
inline constexpr std::size_t kTrailBytesMax = 512;

enum class AuditAction : std::uint8_t {
  enqueued,
  claimed,
  dispatched,
  dispatch_failed,
  returned,
  dead,
  cancelled,
  redriven,
};

struct ItemRecord {
  ItemState state = ItemState::ready;
  int retry_count = 0;
  int attempts = 0;
  Instant scheduled{};
  Instant due{};
  Instant created{};
  std::optional<Instant> claimed;
  std::optional<Instant> dispatched;
  Instant settled{};        // of a settled one
  FencingToken token = 0;   // of the last claim
  std::uint64_t claim = 0;  // its number, 0 = none yet
  std::uint32_t pages = 0;  // of audit entries that moved out
  BodyDigest digest{};
  std::string last_error;
  std::string trail;  // audit entries, encoded

  friend bool operator==(const ItemRecord&, const ItemRecord&) = default;
};

// What people call a claim.
std::string batch_name(std::uint64_t claim);

// `out` is replaced.
void encode_item(const ItemRecord& record, std::string& out);
Result<ItemRecord> decode_item(std::string_view value);

struct AuditNote {
  Instant at{};
  AuditAction action = AuditAction::enqueued;
  std::optional<ItemState> from;
  ItemState to = ItemState::ready;
  std::string_view batch_id;
  std::string_view detail;
};
// Appends; texts that are too long are cut.
void put_audit(std::string& out, const AuditNote& note);
// Appends to `entries`.
Result<void> decode_audit(std::string_view value, std::vector<AuditEntry>& entries);

// Prefix of the keys of all items of a type, in all families of items.
std::string queue_prefix(const ItemType& type);
// Keys replace `out`.
void item_key(const ItemType& type, const ItemId& id, std::string& out);
std::string item_key(const ItemType& type, const ItemId& id);
// Of queue_due, queue_context and queue_settled.
void timed_key(const ItemType& type, Instant at, std::string_view id, std::string& out);
std::string timed_key(const ItemType& type, Instant at, std::string_view id = {});
std::string audit_key(const ItemType& type, const ItemId& id, std::uint32_t page);

struct TimedKey {
  Instant at{};
  ItemId id;
};
// `type` is known: the walk was over its prefix.
Result<TimedKey> decode_timed_key(const ItemType& type, std::string_view key);

struct SettledItem {
  ItemState state = ItemState::dispatched;
  Instant scheduled{};
  std::uint32_t pages = 0;

  friend bool operator==(const SettledItem&, const SettledItem&) = default;
};
std::string encode_settled(const SettledItem& item);
Result<SettledItem> decode_settled(std::string_view value);

struct TypeState {
  std::array<std::uint64_t, core::kItemStates> counts{};
  FencingToken token = 0;        // the newest that claimed
  std::uint64_t last_claim = 0;  // claims are numbered from 1

  friend bool operator==(const TypeState&, const TypeState&) = default;
};
inline constexpr char kTypeStateTag = 't';
inline constexpr char kClaimTag = 'c';
inline constexpr char kLeaseTag = 'l';
inline constexpr char kDeadTag = 'd';

std::string type_state_key(const ItemType& type);
Result<ItemType> decode_type_state_key(std::string_view key);
std::string encode_type_state(const TypeState& state);
Result<TypeState> decode_type_state(std::string_view value);

// Keys of DEAD items; without an id, a prefix of those that died then.
std::string dead_key(const ItemType& type, Instant died, std::string_view id = {});
std::string dead_prefix(const ItemType& type);
Result<TimedKey> decode_dead_key(const ItemType& type, std::string_view key);

struct ClaimKey {
  ItemType type;
  std::uint64_t claim = 0;
};
std::string claim_key(const ItemType& type, std::uint64_t claim);
Result<ClaimKey> decode_claim_key(std::string_view key);
struct ClaimRecord {
  FencingToken token = 0;
  Instant at{};
  std::vector<ItemId> ids;

  friend bool operator==(const ClaimRecord&, const ClaimRecord&) = default;
};
std::string encode_claim(const ClaimRecord& claim);
Result<ClaimRecord> decode_claim(std::string_view value);

struct LeaseRecord {
  std::string node;  // empty = given back
  FencingToken token = 0;
  Instant until{};
  Instant paused_until{};

  friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};
std::string lease_key(const ItemType& type);
std::string encode_lease(const LeaseRecord& lease);
Result<LeaseRecord> decode_lease(std::string_view value);

inline constexpr std::string_view kItemTypeRevisionKey = "item_type_revision";

std::string item_type_key(const ItemType& type);  // prefix of all versions of `type`
std::string item_type_key(const ItemType& type, std::int64_t version);
std::string encode_item_type(const ItemTypeRecord& record);
Result<ItemTypeRecord> decode_item_type(std::string_view key, std::string_view value);

std::string encode_item_type_revision(std::uint64_t revision);
Result<std::uint64_t> decode_item_type_revision(std::string_view value);

}  // namespace penstock::store::embedded
