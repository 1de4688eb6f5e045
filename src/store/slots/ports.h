// Ports of slots: which event has which time, the configs in force, what becomes of a slot.
// Blocking; thread-safe; what changes something is durable when it returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "core/slots/slot.h"
#include "core/slots/slot_config.h"
#include "store/port.h"

namespace penstock::store {

using core::Slot;
using core::SlotStatus;
using core::WindowUse;

struct SlotRequest {
  EventId event;           // of an item: core::item_event()
  ConfigName config_name;  // the store decides by the version that is active in it
  Instant requested{};     // whole milliseconds
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

// Slots that events hold in time. A backend proves itself with
// store/slots/conformance/slot_suite.h. Implementations are blocking and safe to call from several
// threads at once.
class SlotStore : public Port {
 public:
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

struct SlotConfigChange {
  core::SlotConfig current;
  std::optional<core::SlotConfig> previous;  // the version that `current` superseded
};

// The versioned slot configs. A backend proves itself with store/conformance/. Implementations are
// blocking and safe to call from several threads at once.
class SlotConfigStore : public Port {
 public:
  // The active version of `name`, if there is one.
  virtual Result<std::optional<core::SlotConfig>> find(const ConfigName& name) = 0;

  // Adds the next version and deactivates the one before, atomically and durably. `conflict` when
  // another active config of the pool has another window size, or when this changes the window size
  // of its pool while the pool holds assignments in windows that have not ended at `now`.
  virtual Result<SlotConfigChange> put(const core::SlotConfigDraft& draft,
                                       std::optional<Instant> now) = 0;

  // All versions of `name`, newest first, at most `limit`.
  virtual Result<std::vector<core::SlotConfig>> history(const ConfigName& name,
                                                        std::size_t limit) = 0;

  // The active configs ordered by name, after `after` (empty = from the start), at most `limit`.
  virtual Result<std::vector<core::SlotConfig>> list(const ConfigName& after,
                                                     std::size_t limit) = 0;
};

// What becomes of a slot after its assignment. Blocking; thread-safe; durable when it returns. A
// backend proves itself with SlotLifeSuite of store/slots/conformance/life_rules.h. A slot that
// was RELEASED or EXPIRED stays for people to see; its event may be assigned anew by
// SlotStore::assign, which then takes its place. `now` is for tests; null = the store's own clock.
class SlotLife : public Port {
 public:
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

struct PruneOptions {
  Instant before{};                // slots of windows that ended by then go; never later than now
  std::size_t step_slots = 1'000;  // in one transaction: some 10 ms
};

struct PruneReport {
  std::uint64_t slots = 0;
  std::uint64_t windows = 0;
};

// Takes old slots out of the store, in small steps that do not hold up assignment; a backend that
// can takes the oldest windows first. A pruned event is forgotten: its id may be assigned anew, and
// a request for a time whose window was pruned finds that window empty. Thread-safe.
class SlotRetention : public Port {
 public:
  // Gets the slots of one step before they are gone for good; an error keeps them and ends the run.
  // When the store fails between the two, the next run hands out the same slots again: each slot
  // reaches the sink at least once. An empty function deletes without a copy.
  using Sink = std::function<Result<void>(std::span<const core::Slot>)>;

  // Runs until nothing old is left. `should_stop`, asked between steps, ends it early without
  // error.
  virtual Result<PruneReport> prune(const PruneOptions& options, const Sink& sink,
                                    const std::function<bool()>& should_stop) = 0;
};

// News of slot configs that any node changed, so that every node forgets what it remembered. Only a
// backend shared by several nodes offers it. Thread-safe.
class ChangeFeed : public Port {
 public:
  // Empty = anything may have changed: someone asked for a flush, or news may have been missed
  // while the connection was down. Called on the feed's own thread, must not block for long; a
  // change made by this node comes back to it too.
  using Listener = std::function<void(const std::optional<ConfigName>&)>;

  // One listener; a second call replaces the first and null takes it away. Returns when the
  // listener before is not running and never will again.
  virtual void subscribe(Listener listener) = 0;

  // Tells all nodes, this one included, that anything may have changed.
  virtual Result<void> flush_everywhere() = 0;
};

// What an engine offers of this capability; null = not this.
struct SlotPorts {
  SlotStore* store = nullptr;
  SlotConfigStore* configs = nullptr;
  SlotRetention* retention = nullptr;
  SlotLife* life = nullptr;
  ChangeFeed* changes = nullptr;  // only of a store that nodes share
};

}  // namespace penstock::store
