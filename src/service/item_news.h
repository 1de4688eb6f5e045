// News inside of this node that items of a type came in, and may be due sooner than its dispatcher
// knows. Who takes items in tells (payments, the gateway); dispatch listens. Neither side holds the
// other, so each may begin and end when it must. Thread-safe.
#pragma once

#include <functional>
#include <mutex>
#include <utility>

#include "base/ids.h"

namespace penstock::service {

class ItemNews {
 public:
  // Must not block.
  using Listener = std::function<void(const ItemType&)>;

  // One listener; a second call replaces the first and null takes it away. Returns when the
  // listener before is not running and never will again.
  void subscribe(Listener listener) {
    const std::lock_guard lock(mutex_);
    listener_ = std::move(listener);
  }

  // Without a listener nothing is lost: a dispatcher that begins looks by itself.
  void tell(const ItemType& type) {
    const std::lock_guard lock(mutex_);
    if (listener_) listener_(type);
  }

 private:
  std::mutex mutex_;
  Listener listener_;  // guarded by mutex_
};

}  // namespace penstock::service
