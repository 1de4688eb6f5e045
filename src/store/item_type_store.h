// Port: the settings of item types, with their history. Blocking; thread-safe; durable when it
// returns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "core/dispatch/item_type.h"

namespace penstock::store {

struct ItemTypeRecord {
  ItemType type;
  std::int64_t version = 0;  // from 1
  core::ItemTypeSettings settings;
  Instant changed{};
};

class ItemTypeStore {
 public:
  ItemTypeStore() = default;
  ItemTypeStore(const ItemTypeStore&) = delete;
  ItemTypeStore& operator=(const ItemTypeStore&) = delete;
  virtual ~ItemTypeStore() = default;

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

}  // namespace penstock::store
