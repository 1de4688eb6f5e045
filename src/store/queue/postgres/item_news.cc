#include "store/queue/postgres/item_news.h"

#include <charconv>
#include <cstdint>
#include <string>
#include <utility>

namespace penstock::store::postgres {

void ItemNews::subscribe(Listener listener) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
}

void ItemNews::heard(std::string_view payload) {
  const std::size_t space = payload.find(' ');
  if (space == std::string_view::npos) return missed();  // not from us
  std::int64_t due_us = 0;
  const std::string_view due = payload.substr(space + 1);
  std::from_chars(due.data(), due.data() + due.size(), due_us);
  const ItemType type = ItemType::trusted(std::string(payload.substr(0, space)));
  hints_.lower(type, due_us);
  tell(type);
}

void ItemNews::missed() {
  hints_.forget();
  tell(std::nullopt);
}

void ItemNews::tell(const std::optional<ItemType>& type) {
  const std::lock_guard lock(mutex_);
  if (listener_) listener_(type);
}

}  // namespace penstock::store::postgres
