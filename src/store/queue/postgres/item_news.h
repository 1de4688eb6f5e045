// ItemFeed on the notifications that Changes receives: passes them on, and keeps the hints of
// claims true when another node enqueues. Thread-safe.
#pragma once

#include <mutex>
#include <string_view>

#include "store/queue/ports.h"
#include "store/queue/postgres/claim_hints.h"

namespace penstock::store::postgres {

class ItemNews final : public ItemFeed {
 public:
  static constexpr std::string_view kChannel = "penstock_item";

  // `hints` must outlive this.
  explicit ItemNews(ClaimHints& hints) : hints_(hints) {}

  void subscribe(Listener listener) override;

  void heard(std::string_view payload);  // "TYPE DUE", DUE in microseconds since the epoch
  void missed();                         // the connection was down

 private:
  void tell(const std::optional<ItemType>& type);

  ClaimHints& hints_;
  std::mutex mutex_;
  Listener listener_;  // guarded by mutex_, also while it runs
};

}  // namespace penstock::store::postgres
