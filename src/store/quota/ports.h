// Ports of the gateway: what users may send, what was sent and what became of it.
// Blocking; thread-safe; what changes something is durable when it returns.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "core/dispatch/item.h"
#include "core/gateway/delivery.h"
#include "core/gateway/quota.h"
#include "store/port.h"
#include "store/quota/cache_ports.h"

namespace penstock::store {

using core::Quota;
using core::QuotaRule;
using core::UserId;

inline const ItemType& message_item_type() {
  static const ItemType type = ItemType::trusted("SMS");
  return type;
}

struct Send {
  UserId user;
  std::int64_t cost = 1;
  ItemId id;                  // the message's, when it is taken; never used before
  std::string key;            // of idempotency, the user's own; empty = none
  core::BodyDigest digest{};  // of the message
  std::string context;        // of its item
};

enum class SendResult : std::uint8_t {
  sent,
  repeated,   // the key is known with this message: its first answer stands, nothing changed
  different,  // the key is known with another message: nothing changed
  limited,    // the window is used up
  never,      // it costs more than a window allows
  unknown_user,
  // Of a bus outside of the store only:
  pending,      // the key is that of a request that is still under way: nothing changed
  unpublished,  // the bus did not take it: nothing is counted
  unconfirmed,  // nobody knows whether the bus has it: it is counted
};

struct Sent {
  SendResult result = SendResult::sent;
  ItemId id;              // of what was sent, now or then
  Micros retry_after{0};  // of one that is limited
};

// What users did in one minute.
struct UsageCounts {
  std::int64_t sent = 0;
  std::int64_t limited = 0;
  std::int64_t failed = 0;

  UsageCounts& operator+=(const UsageCounts& other) noexcept {
    sent += other.sent;
    limited += other.limited;
    failed += other.failed;
    return *this;
  }
  friend bool operator==(const UsageCounts&, const UsageCounts&) = default;
};

inline Instant minute_of(Instant at) noexcept {
  return Instant{std::chrono::floor<core::Minutes>(at.time_since_epoch())};
}

struct UsagePoint {
  Instant minute{};
  UsageCounts counts;

  friend bool operator==(const UsagePoint&, const UsagePoint&) = default;
};

struct UsageDelta {
  UserId user;
  Instant minute{};
  UsageCounts counts;  // what send() takes it counts itself: `sent` is of another bus
};

struct LimitedUser {
  UserId user;
  std::int64_t limited = 0;

  friend bool operator==(const LimitedUser&, const LimitedUser&) = default;
};

struct QuotaSweep {
  std::size_t gone = 0;
  bool more = false;
};

// The quotas of the gateway's users, with the messages that were taken on them. A backend proves
// itself with store/quota/conformance/quota_suite.h. Implementations are blocking and safe to call
// from several threads at once. With the outbox a message that is taken is an item of the queue of
// the same store (type SMS, its id is the message's, due at once): the charge, the item, the
// idempotency key and the count of what was sent are one atomic step, durable when the call
// returns. For a bus outside of the store it is also the QuotaGate, durable as well; a window is
// named by the microsecond of its beginning. `now` is for tests; null = the store's own clock.
class QuotaStore : public QuotaGate {
 public:
  // New or changed: its count begins anew, and so does its window.
  virtual Result<Quota> put(UserId user, const QuotaRule& rule, std::optional<Instant> now) = 0;
  virtual Result<std::optional<Quota>> find(UserId user) = 0;
  // Whether there was one. Messages and usage stay.
  virtual Result<bool> remove(UserId user) = 0;

  // Decided in the order of `sends`, as if each were alone. When the store itself fails, every one
  // gets that error and nothing was written. What is refused costs no write.
  virtual std::vector<Result<Sent>> send(std::span<const Send> sends,
                                         std::optional<Instant> now) = 0;

  // Adds to what is counted. All of it or none.
  virtual Result<void> record(std::span<const UsageDelta> deltas) = 0;
  // Minutes of [from, to) with anything in them, ascending; at most `limit`, the first ones.
  virtual Result<std::vector<UsagePoint>> usage(UserId user, Instant from, Instant to,
                                                std::size_t limit) = 0;
  // Who was limited most in the minutes of [from, to); then by user.
  virtual Result<std::vector<LimitedUser>> top_limited(Instant from, Instant to,
                                                       std::size_t limit) = 0;

  // Forgets up to `limit` keys that were taken or claimed before `keys_before`, and as many minutes
  // of usage before `usage_before`. Short: it holds nobody up.
  virtual Result<QuotaSweep> forget(Instant keys_before, Instant usage_before,
                                    std::size_t limit) = 0;
};

struct KeyClaim {
  core::UserId user;
  std::string key;
  core::BodyDigest digest{};  // of the message
  ItemId id;                  // the message's, if the key is free
};

enum class KeyState : std::uint8_t {
  free,       // nobody has it
  accepted,   // this message was accepted with it: `id`
  different,  // another message has it
  pending,    // a request that is still under way has it, with this message
  left,       // one that is over had it, with this message, and nobody knows what came of it: `id`
};

struct KeyView {
  KeyState state = KeyState::free;
  ItemId id;
  std::int64_t claim = 0;  // names the claim, for settle()
};

enum class KeyEnd : std::uint8_t {
  accepted,  // remembered with its message
  dropped,   // free again
  left,      // nobody knows: whoever comes next with this message goes on with its id
};

struct KeySettlement {
  core::UserId user;
  std::string key;
  std::int64_t claim = 0;
  KeyEnd end = KeyEnd::accepted;
};

// The idempotency keys of messages that are published outside of the store. A key is claimed with
// its message's id before the publish, and settled by what came of that; what is accepted is what
// QuotaStore::send() knows, too. A backend proves itself with
// store/quota/conformance/quota_suite.h. Implementations are blocking and safe to call from several
// threads at once; `now` is for tests, null = the store's own clock.
class SendKeys : public Port {
 public:
  // What each key is now; writes nothing. A claim that is older than `live` is left.
  virtual Result<std::vector<KeyView>> look(std::span<const KeyClaim> keys, Millis live,
                                            std::optional<Instant> now) = 0;

  // What each key was, in order; those that were free or left are the caller's now. Durable when
  // it returns; all or none.
  virtual Result<std::vector<KeyView>> claim(std::span<const KeyClaim> keys, Millis live,
                                             std::optional<Instant> now) = 0;

  // Whether each was still the caller's: a claim that was left meanwhile and taken by another
  // stays as it is.
  virtual Result<std::vector<bool>> settle(std::span<const KeySettlement> keys,
                                           std::optional<Instant> now) = 0;
};

// In whose words a reference is, and the reference: at most kIdBytesMax * 2 bytes each, no NUL.
struct PartName {
  std::string provider;
  std::string reference;

  friend auto operator<=>(const PartName&, const PartName&) = default;
};
inline constexpr std::size_t kPartNameBytesMax = 2 * kIdBytesMax;

struct TakenPart {
  PartName name;
  ItemId message;
  int part = 1;  // from 1
  int parts = 1;
};

struct PartReport {
  PartName name;
  core::DeliveryState state = core::DeliveryState::unknown;
  std::string detail;
};

// What providers say of messages that they took, by the provider's own references. A backend proves
// itself with store/quota/conformance/delivery_suite.h. Implementations are blocking and safe to
// call from several threads at once; what they write is durable when the call returns. `now` is for
// tests; null = the store's own clock.
class DeliveryStore : public Port {
 public:
  // A report that came before its part is kept and stands. A name that was another message's before
  // belongs to the new one, of which nothing is known yet. All of it or none.
  virtual Result<void> note_taken(std::span<const TakenPart> parts, std::optional<Instant> now) = 0;

  // In order; what is known already gives way as core::replaces() says. For each, whether its
  // message is known by now. All of it or none.
  virtual Result<std::vector<bool>> note_reports(std::span<const PartReport> reports,
                                                 std::optional<Instant> now) = 0;

  // The parts of a message by their numbers, then by their names; empty when none was taken.
  virtual Result<std::vector<core::DeliveryPart>> find_parts(const ItemId& message) = 0;

  // Forgets up to `limit` parts and reports that were first written before `before`; how many went.
  // Short: it holds nobody up.
  virtual Result<std::size_t> forget_parts(Instant before, std::size_t limit) = 0;
};

enum class AttemptOutcome : std::uint8_t { sent, limited, failed };

// The name of an attempt, and its place among the others: no two are the same.
struct AttemptMark {
  Instant at{};
  std::int64_t number = 0;  // drawn, not negative

  friend auto operator<=>(const AttemptMark&, const AttemptMark&) = default;
};

struct Attempt {
  AttemptMark mark;
  core::UserId user;
  AttemptOutcome outcome = AttemptOutcome::sent;
  ItemId message;    // of one that was sent
  std::string text;  // of the message, where it is to be kept

  friend bool operator==(const Attempt&, const Attempt&) = default;
};

// Every attempt to send a message, one by one, for who asks for more than counts
// (gateway.attempts). A backend proves itself with store/quota/conformance/attempt_suite.h.
// Implementations are blocking and safe to call from several threads at once.
class AttemptStore : public Port {
 public:
  // All of them or none; durable when it returns. One that is there already stays as it is, so that
  // a write whose answer was lost can be repeated.
  virtual Result<void> append(std::span<const Attempt> attempts) = 0;
  // Those of [from, to) behind `after`, ascending; at most `limit`.
  virtual Result<std::vector<Attempt>> page(Instant from, Instant to,
                                            std::optional<AttemptMark> after,
                                            std::size_t limit) = 0;
  // Forgets up to `limit` of those before, the oldest first; how many it were.
  virtual Result<std::size_t> forget_attempts(Instant before, std::size_t limit) = 0;
};

// Where a page ends: the next one begins behind it.
struct UsageMark {
  Instant minute{};
  UserId user;

  friend auto operator<=>(const UsageMark&, const UsageMark&) = default;
};

struct UserMinute {
  UserId user;
  Instant minute{};
  UsageCounts counts;

  friend bool operator==(const UserMinute&, const UserMinute&) = default;
};

// Reading what all users did, in pages, and how far it was handed on to somebody else. A backend
// proves itself with store/quota/conformance/usage_export_suite.h. Implementations are blocking and
// safe to call from several threads at once. `now` is for tests; null = the store's own clock.
class UsageExport : public Port {
 public:
  // Minutes of [from, to) with anything in them, of all users: by minute, then by user, behind
  // `after`; at most `limit`, the first ones. Each count as it stood at one moment.
  virtual Result<std::vector<UserMinute>> page(Instant from, Instant to,
                                               std::optional<UsageMark> after,
                                               std::size_t limit) = 0;

  // Nodes that share a store hand on in turns: `node` has the turn for `term`, unless another one
  // has it.
  struct Turn {
    bool mine = false;
    std::optional<Instant> done_to;  // minutes before this were handed on; none = nothing was yet
  };
  virtual Result<Turn> take_turn(std::string_view name, std::string_view node, Millis term,
                                 std::optional<Instant> now) = 0;
  // False: another node has taken the turn, and nothing was written.
  virtual Result<bool> set_done_to(std::string_view name, std::string_view node,
                                   Instant done_to) = 0;
};

// What an engine offers of this capability; null = not this.
struct QuotaPorts {
  QuotaStore* store = nullptr;
  DeliveryStore* deliveries = nullptr;
  UsageExport* usage = nullptr;
  AttemptStore* attempts = nullptr;
  SendKeys* keys = nullptr;
  QuotaLedger* ledger = nullptr;  // only of a store that nodes share
  QuotaCache* cache = nullptr;    // only of one that may forget
};

}  // namespace penstock::store
