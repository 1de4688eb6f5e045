// Port: charging a message to its user's quota without sending it, for a bus outside of the store:
// charge, publish, and give back what could not be published. A crash in between leaves the charge.
// Implementations are blocking and safe to call from several threads at once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/gateway/quota.h"

namespace penstock::store {

struct Charge {
  core::UserId user;
  std::int64_t cost = 1;
};

enum class ChargeResult : std::uint8_t {
  charged,
  limited,  // the window is used up
  never,    // it costs more than a window allows
  unknown_user,
};

struct Charged {
  ChargeResult result = ChargeResult::charged;
  std::int64_t window = 0;  // the window it was charged to, as the gate itself names it
  Micros retry_after{0};    // of one that is limited
};

struct GiveBack {
  core::UserId user;
  std::int64_t cost = 1;
  std::int64_t window = 0;  // of its charge: what belongs to another window is not given back
};

class QuotaGate {
 public:
  QuotaGate() = default;
  QuotaGate(const QuotaGate&) = delete;
  QuotaGate& operator=(const QuotaGate&) = delete;
  virtual ~QuotaGate() = default;

  // Decided in the order of `charges`, as if each were alone; durable when the call returns, as far
  // as the gate promises it. `now` is for tests; null = the gate's own clock.
  virtual std::vector<Result<Charged>> charge(std::span<const Charge> charges,
                                              std::optional<Instant> now) = 0;
  // All of it or none. To be called once for a charge.
  virtual Result<void> give_back(std::span<const GiveBack> charges) = 0;
};

}  // namespace penstock::store
