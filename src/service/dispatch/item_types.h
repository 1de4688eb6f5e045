// The item types as this node last saw them. Own changes count at once, those of other nodes with
// the next refresh(). Thread-safe; only calls that say so block.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/queue/ports.h"

namespace penstock::service {

// Each has a thread and some series of metrics on every node.
inline constexpr std::size_t kItemTypesMax = 256;

class ItemTypes {
 public:
  // A change reaches every node within a second: this leaves the rest for a slow store.
  static constexpr Millis kRefreshInterval{400};

  using Record = std::shared_ptr<const store::ItemTypeRecord>;
  // Makes the new settings from those in force; none when there are none yet.
  using Change =
      std::function<Result<core::ItemTypeSettings>(const std::optional<core::ItemTypeSettings>&)>;

  // `store` must outlive this.
  explicit ItemTypes(store::ItemTypeStore& store) : store_(store) {}

  // Asks the store whether anything changed, and loads it then. Blocks. On an error all stays as it
  // was.
  Result<void> refresh();
  // Blocks. When another change came between, `change` is asked again with what it left.
  Result<store::ItemTypeRecord> change(const ItemType& type, const Change& change);

  Record find(const ItemType& type) const;  // null when there is none
  std::vector<Record> list() const;         // in the order of their names
  // Differs from what it was when anything may have changed since.
  std::uint64_t stamp() const noexcept { return stamp_.load(std::memory_order_acquire); }

 private:
  void keep(store::ItemTypeRecord record);  // under mutex_

  store::ItemTypeStore& store_;
  std::atomic<std::uint64_t> stamp_{0};

  mutable std::mutex mutex_;
  std::map<ItemType, Record> records_;     // guarded by mutex_
  std::optional<std::uint64_t> revision_;  // guarded by mutex_; the last one that was loaded
};

}  // namespace penstock::service
