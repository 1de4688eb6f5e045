// Port: news that items of a type may be due sooner than its dispatcher knows. Only a store that
// nodes share offers it: an item may come in by one node and be dispatched by another. Thread-safe.
#pragma once

#include <functional>
#include <optional>

#include "base/ids.h"
#include "base/time.h"

namespace penstock::store {

// Items due later than this after they came in are not announced: a dispatcher looks by itself at
// least twice as often.
inline constexpr Seconds kAnnounceWithin{60};

class ItemFeed {
 public:
  // Empty = any type: news may have been missed while the connection was down. Called on the feed's
  // own thread, must not block; what this node enqueued comes back to it too.
  using Listener = std::function<void(const std::optional<ItemType>&)>;

  ItemFeed() = default;
  ItemFeed(const ItemFeed&) = delete;
  ItemFeed& operator=(const ItemFeed&) = delete;
  virtual ~ItemFeed() = default;

  // One listener; a second call replaces the first and null takes it away. Returns when the
  // listener before is not running and never will again.
  virtual void subscribe(Listener listener) = 0;
};

}  // namespace penstock::store
