#include "service/dispatch/item_types.h"

#include <string>
#include <utility>

namespace penstock::service {

Result<void> ItemTypes::refresh() {
  // Asked before the types are read: a change in between is then found by the next refresh.
  const std::uint64_t revision = PENSTOCK_TRY(store_.revision());
  {
    const std::lock_guard lock(mutex_);
    if (revision_ == revision) return {};
  }
  std::vector<store::ItemTypeRecord> records = PENSTOCK_TRY(store_.list());
  const std::lock_guard lock(mutex_);
  for (store::ItemTypeRecord& record : records) keep(std::move(record));
  revision_ = revision;
  return {};
}

void ItemTypes::keep(store::ItemTypeRecord record) {
  Record& known = records_[record.type];
  if (known && known->version >= record.version) return;
  known = std::make_shared<const store::ItemTypeRecord>(std::move(record));
  stamp_.fetch_add(1, std::memory_order_release);
}

Result<store::ItemTypeRecord> ItemTypes::change(const ItemType& type, const Change& change) {
  constexpr int kAttempts = 5;  // as many changes of one type within milliseconds: somebody loops
  for (int attempt = 1;; ++attempt) {
    const auto current = PENSTOCK_TRY(store_.find(type));
    if (!current && list().size() >= kItemTypesMax) {
      return fail(ErrorKind::conflict, "there are " + std::to_string(kItemTypesMax) +
                                           " item types, the most there can be");
    }
    std::optional<core::ItemTypeSettings> settings;
    if (current) settings = current->settings;
    core::ItemTypeSettings next = PENSTOCK_TRY(change(settings));
    Result<store::ItemTypeRecord> put =
        store_.put(type, current ? current->version : 0, next, std::nullopt);
    if (put) {
      const std::lock_guard lock(mutex_);
      keep(*put);
      return put;
    }
    if (put.error().kind != ErrorKind::conflict || attempt == kAttempts) return put;
  }
}

ItemTypes::Record ItemTypes::find(const ItemType& type) const {
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(type);
  return found == records_.end() ? nullptr : found->second;
}

std::vector<ItemTypes::Record> ItemTypes::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<Record> all;
  all.reserve(records_.size());
  for (const auto& [type, record] : records_) all.push_back(record);
  return all;
}

}  // namespace penstock::service
