// Port: news of slot configs that any node changed, so that every node forgets what it remembered.
// Only a backend shared by several nodes offers it. Thread-safe.
#pragma once

#include <functional>
#include <optional>

#include "base/ids.h"
#include "base/result.h"

namespace penstock::store {

class ChangeFeed {
 public:
  // Empty = anything may have changed: someone asked for a flush, or news may have been missed
  // while the connection was down. Called on the feed's own thread, must not block for long; a
  // change made by this node comes back to it too.
  using Listener = std::function<void(const std::optional<ConfigName>&)>;

  ChangeFeed() = default;
  ChangeFeed(const ChangeFeed&) = delete;
  ChangeFeed& operator=(const ChangeFeed&) = delete;
  virtual ~ChangeFeed() = default;

  // One listener; a second call replaces the first and null takes it away. Returns when the
  // listener before is not running and never will again.
  virtual void subscribe(Listener listener) = 0;

  // Tells all nodes, this one included, that anything may have changed.
  virtual Result<void> flush_everywhere() = 0;
};

}  // namespace penstock::store
