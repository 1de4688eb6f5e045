// Port: what becomes of a slot after its assignment. Blocking; thread-safe; durable when it
// returns. A backend proves itself with SlotLifeSuite of store/conformance/life_rules.h.
//
// A slot that was RELEASED or EXPIRED stays for people to see; its event may be assigned anew by
// SlotStore::assign, which then takes its place. `now` is for tests; null = the store's own clock.
#pragma once

#include <cstddef>
#include <optional>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "core/slots/slot.h"

namespace penstock::store {

class SlotLife {
 public:
  SlotLife() = default;
  SlotLife(const SlotLife&) = delete;
  SlotLife& operator=(const SlotLife&) = delete;
  virtual ~SlotLife() = default;

  // ASSIGNED -> CONFIRMED; one that is CONFIRMED stays so. `not_found` when the event has none;
  // `conflict` when it is RELEASED or EXPIRED.
  virtual Result<core::Slot> confirm(const EventId& event, std::optional<Instant> now) = 0;

  // ASSIGNED or CONFIRMED -> RELEASED; the window has room for one more, and the next assignment of
  // any node may use it. `conflict` once the window has begun, or when it is RELEASED or EXPIRED.
  virtual Result<core::Slot> release(const EventId& event, std::optional<Instant> now) = 0;

  // Slots that were to be confirmed before `now` and are still ASSIGNED become EXPIRED; of those
  // whose window has not begun, it has room for one more. At most `limit`, in one short step; how
  // many.
  virtual Result<std::size_t> expire(std::size_t limit, std::optional<Instant> now) = 0;
};

}  // namespace penstock::store
