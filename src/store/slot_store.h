// Port: slots that events hold in time. A backend proves itself with
// store/conformance/slot_suite.h. Implementations are blocking and safe to call from several
// threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "core/slots/slot.h"
#include "core/slots/slot_config.h"

namespace penstock::store {

using core::Slot;
using core::SlotStatus;
using core::WindowUse;

struct SlotRequest {
  EventId event;  // of an item: core::item_event()
  ConfigName config_name;
  // The active version as the caller knows it; null = the caller knows no such config. A backend
  // that holds a newer version of the same name decides by the newer one.
  std::shared_ptr<const core::SlotConfig> config;
  Instant requested{};  // whole milliseconds
  Millis max_delay{0};
  std::uint64_t entropy = 0;       // picks the place inside the window: same number, same place
  std::optional<Millis> ttl = {};  // to be confirmed so long after its assignment, or it expires
};

// For backends: the services check what people send; this keeps window arithmetic in range whoever
// calls.
Result<void> check_request(const SlotRequest& request);

struct Assignment {
  Slot slot;
  bool fresh = false;      // false: the event had this slot already, nothing was charged
  std::int64_t depth = 0;  // windows passed over by the search; 0 when not fresh
};

struct WindowRange {
  PoolName pool;
  Millis window_size{0};
  Instant from{};  // windows whose start is in [from, to)
  Instant to{};
  std::size_t limit = 0;
};

class SlotStore {
 public:
  SlotStore() = default;
  SlotStore(const SlotStore&) = delete;
  SlotStore& operator=(const SlotStore&) = delete;
  virtual ~SlotStore() = default;

  // Gives every event the earliest window with room, in the order of `requests`. Atomic, and
  // durable when it returns; answers stand in the order of `requests`. An event that has a slot
  // (RELEASED and EXPIRED ones aside) gets that slot and charges nothing, whatever else its request
  // says; the same event twice in one batch gets one slot. A request fails alone: `not_found` (no
  // such config), `exhausted` (no room within max_delay); when the store itself fails, every
  // request gets that error and nothing is charged. `now` is for tests; null = the store's own
  // clock.
  virtual std::vector<Result<Assignment>> assign(std::span<const SlotRequest> requests,
                                                 std::optional<Instant> now) = 0;

  // Answers in the order of `events`; an unknown event is an empty optional.
  virtual Result<std::vector<std::optional<Slot>>> find(std::span<const EventId> events) = 0;

  // Used windows only, ascending, at most `range.limit`.
  virtual Result<std::vector<WindowUse>> windows(const WindowRange& range) = 0;

  // All slots, ordered by event id (bytewise), after `after` (empty = from the start), at most
  // `limit`.
  virtual Result<std::vector<Slot>> scan(const EventId& after, std::size_t limit) = 0;
};

}  // namespace penstock::store
