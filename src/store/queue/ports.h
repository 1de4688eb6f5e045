// Ports of dispatch: items that wait, who may hand them over, the settings of their types.
// Blocking; thread-safe; what changes something is durable when it returns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "core/dispatch/handover.h"
#include "core/dispatch/item.h"
#include "core/dispatch/item_type.h"
#include "store/port.h"
#include "store/slots/ports.h"

namespace penstock::store {

using core::BodyDigest;
using core::Claim;
using core::ClaimedItem;
using core::FencingToken;
using core::ItemState;
using core::Lease;
using core::Outcome;
using core::Settlement;

struct NewItem {
  ItemType type;
  ItemId id;
  Instant due{};                    // whole milliseconds; unused with a slot
  std::optional<SlotRequest> slot;  // its slot is written in the same step, and is its time
  std::string context;              // JSON text, kept as it is
  BodyDigest digest{};
};

enum class EnqueueResult : std::uint8_t {
  created,
  same,       // it was there, with the same body
  different,  // it was there, with another body: nothing changed
  cancelled,  // it was there and is cancelled: nothing changed
};

struct Enqueued {
  EnqueueResult result = EnqueueResult::created;
  ItemState state = ItemState::ready;
  Instant scheduled{};
};

struct ClaimRequest {
  ItemType type;
  FencingToken token = 0;
  std::size_t limit = 0;
  // Of contexts: the item that comes to it is the last one, so there is always one.
  std::size_t bytes = std::numeric_limits<std::size_t>::max();
  Millis early{0};  // items due this long after now, too
  Millis stale{0};  // claims of this token that are older are claimed anew
  int retries_max = 5;
};

inline constexpr std::size_t kDetailBytesMax = 1'024;

struct SettleRequest {
  ItemType type;
  FencingToken token = 0;
  int retries_max = 5;
  std::span<const Settlement> items;
};

struct AuditEntry {
  Instant at{};
  std::string action;  // ENQUEUED, CLAIMED, DISPATCHED, DISPATCH_FAILED, RETURNED, DEAD, CANCELLED,
                       // REDRIVEN
  std::optional<ItemState> from;
  ItemState to = ItemState::ready;
  std::string batch_id;
  std::string detail;
};

struct ItemView {
  ItemType type;
  ItemId id;
  ItemState state = ItemState::ready;
  Instant scheduled{};
  int retry_count = 0;
  int attempts = 0;
  std::string last_error;
  Instant created{};
  std::optional<Instant> claimed;
  std::optional<Instant> dispatched;
  std::string batch_id;
  std::vector<AuditEntry> audit;  // oldest first
  Instant due{};                  // of a READY one: from when on it may go
};

struct DeadItem {
  ItemId id;
  Instant died{};
  Instant scheduled{};
  int attempts = 0;
  std::string last_error;

  friend bool operator==(const DeadItem&, const DeadItem&) = default;
};

// Where a page of dead items ends. The next one begins behind it.
struct DeadPlace {
  Instant died{};
  ItemId id;
};

struct QueueSummary {
  std::array<std::uint64_t, core::kItemStates> counts{};  // by ItemState
  std::optional<Instant> oldest_due;                      // of the READY ones
};

// Items that wait for their time, are claimed by the one dispatcher of their type, handed over and
// settled. A backend proves itself with store/queue/conformance/queue_suite.h. Implementations are
// blocking and safe to call from several threads at once. Every change of an item and its audit
// entry are one atomic step, durable when the call returns. `now` is for tests; null = the store's
// own clock.
class QueueStore : public Port {
 public:
  // In the order of `items`; the same item twice in one batch is one item. An item with a slot
  // fails alone as SlotStore::assign says; when the store itself fails, every item gets that error
  // and nothing was written.
  virtual std::vector<Result<Enqueued>> enqueue(std::span<const NewItem> items,
                                                std::optional<Instant> now) = 0;

  // Due READY items in the order of their time (then of their ids), and claims of an earlier token,
  // which are claimed anew at once; each with its context. Items whose retries are used up by now
  // become DEAD instead. Only the newest token claims: an older one is `conflict`.
  virtual Result<Claim> claim(const ClaimRequest& request, std::optional<Instant> now) = 0;

  // Moves items that this token holds; for each, whether it did. An item that somebody else has
  // claimed since, or that is not CLAIMED, stays as it is: false.
  virtual Result<std::vector<bool>> settle(const SettleRequest& request,
                                           std::optional<Instant> now) = 0;

  // READY -> CANCELLED; `conflict` from any other state, `not_found` when there is no such item.
  virtual Result<ItemView> cancel(const ItemType& type, const ItemId& id,
                                  std::optional<Instant> now) = 0;
  // DEAD -> READY, due at once, with no retry used; else as cancel().
  virtual Result<ItemView> redrive(const ItemType& type, const ItemId& id,
                                   std::optional<Instant> now) = 0;

  virtual Result<std::optional<ItemView>> find(const ItemType& type, const ItemId& id) = 0;

  // Cheap whatever the number of items.
  virtual Result<QueueSummary> summary(const ItemType& type) = 0;

  // Up to `limit` DEAD items, the newest first, then by id; from behind `after` on.
  virtual Result<std::vector<DeadItem>> dead(const ItemType& type,
                                             const std::optional<DeadPlace>& after,
                                             std::size_t limit) = 0;

  // Forgets up to `limit` items that were settled before `before`, with context and audit; how many
  // went. Short: it holds nobody up.
  virtual Result<std::size_t> forget(const ItemType& type, Instant before, std::size_t limit) = 0;
};

struct LeaseRequest {
  ItemType type;
  // One life of one process: what was claimed by an earlier one is another's.
  std::string node;
  Millis term{0};          // from the store's now
  Instant paused_until{};  // the sink asked the holder to wait so long; kept for the next holder
};

struct LeaseView {
  std::optional<std::string> holder;  // empty when the term is over or was never begun
  Instant paused_until{};
};

// Who dispatches an item type. At most one node holds the lease of a type at a time; each new
// holder gets a larger token than all before, which fences off whoever was slow. Blocking; thread-
// safe.
class LeaseStore : public Port {
 public:
  // Takes or renews the lease; nothing when another node has it. A holder whose term is over and
  // who finds that nobody came meanwhile goes on with the token it had. The holder counts the term
  // from before it asked, so that it always stops before another begins.
  virtual Result<std::optional<Lease>> acquire(const LeaseRequest& request,
                                               std::optional<Instant> now) = 0;

  // Gives the lease back, so that another node need not wait. Of somebody else's lease: nothing.
  virtual Result<void> release(const ItemType& type, std::string_view node) = 0;

  virtual Result<LeaseView> view(const ItemType& type, std::optional<Instant> now) = 0;
};

struct ItemTypeRecord {
  ItemType type;
  std::int64_t version = 0;  // from 1
  core::ItemTypeSettings settings;
  Instant changed{};
};

// The settings of item types, with their history. Blocking; thread-safe; durable when it returns.
class ItemTypeStore : public Port {
 public:
  // `expected` is the version that the new settings were made from, 0 = there was none; another one
  // by now is `conflict`.
  virtual Result<ItemTypeRecord> put(const ItemType& type, std::int64_t expected,
                                     const core::ItemTypeSettings& settings,
                                     std::optional<Instant> now) = 0;

  virtual Result<std::optional<ItemTypeRecord>> find(const ItemType& type) = 0;
  virtual Result<std::vector<ItemTypeRecord>> list() = 0;  // in the order of their names
  virtual Result<std::vector<ItemTypeRecord>> history(const ItemType& type,
                                                      std::size_t limit) = 0;  // newest first

  // Grows with every change of any type: a cheap way to learn that a copy is still good.
  virtual Result<std::uint64_t> revision() = 0;
};

// Items due later than this after they came in are not announced: a dispatcher looks by itself at
// least twice as often.
inline constexpr Seconds kAnnounceWithin{60};

// News that items of a type may be due sooner than its dispatcher knows. Only a store that nodes
// share offers it: an item may come in by one node and be dispatched by another. Thread-safe.
class ItemFeed : public Port {
 public:
  // Empty = any type: news may have been missed while the connection was down. Called on the feed's
  // own thread, must not block; what this node enqueued comes back to it too.
  using Listener = std::function<void(const std::optional<ItemType>&)>;

  // One listener; a second call replaces the first and null takes it away. Returns when the
  // listener before is not running and never will again.
  virtual void subscribe(Listener listener) = 0;
};

// What an engine offers of this capability; null = not this.
struct QueuePorts {
  QueueStore* store = nullptr;
  LeaseStore* leases = nullptr;
  ItemTypeStore* types = nullptr;
  ItemFeed* feed = nullptr;  // only of a store that nodes share
};

}  // namespace penstock::store
