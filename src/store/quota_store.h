// Port: the quotas of the gateway's users, with the messages that were taken on them. A backend
// proves itself with store/conformance/quota_suite.h. Implementations are blocking and safe to call
// from several threads at once.
//
// With the outbox a message that is taken is an item of the queue of the same store (type SMS, its
// id is the message's, due at once): the charge, the item, the idempotency key and the count of
// what was sent are one atomic step, durable when the call returns. For a bus outside of the store
// it is also the QuotaGate, durable as well; a window is named by the microsecond of its beginning.
// `now` is for tests; null = the store's own clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "core/dispatch/item_call.h"
#include "core/gateway/quota.h"
#include "store/quota_gate.h"

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

}  // namespace penstock::store
