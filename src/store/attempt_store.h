// Port: every attempt to send a message, one by one, for who asks for more than counts
// (gateway.attempts). A backend proves itself with store/conformance/attempt_suite.h.
// Implementations are blocking and safe to call from several threads at once.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "core/gateway/quota.h"

namespace penstock::store {

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

class AttemptStore {
 public:
  AttemptStore() = default;
  AttemptStore(const AttemptStore&) = delete;
  AttemptStore& operator=(const AttemptStore&) = delete;
  virtual ~AttemptStore() = default;

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

}  // namespace penstock::store
