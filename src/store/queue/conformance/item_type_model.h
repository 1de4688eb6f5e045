// The settings of item types in memory: what a backend's ItemTypeStore means. Thread-safe.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "store/queue/ports.h"

namespace penstock::store::conformance {

class ItemTypeModel final : public ItemTypeStore {
 public:
  Result<ItemTypeRecord> put(const ItemType& type, std::int64_t expected,
                             const core::ItemTypeSettings& settings,
                             std::optional<Instant> now) override {
    const std::lock_guard lock(mutex_);
    std::vector<ItemTypeRecord>& versions = records_[type];
    if (static_cast<std::int64_t>(versions.size()) != expected) {
      return fail(ErrorKind::conflict, "changed meanwhile");
    }
    versions.push_back({type, expected + 1, settings, now.value_or(Instant{})});
    ++revision_;
    return versions.back();
  }

  Result<std::optional<ItemTypeRecord>> find(const ItemType& type) override {
    const std::lock_guard lock(mutex_);
    const auto found = records_.find(type);
    if (found == records_.end()) return std::nullopt;
    return found->second.back();
  }

  Result<std::vector<ItemTypeRecord>> list() override {
    const std::lock_guard lock(mutex_);
    std::vector<ItemTypeRecord> all;
    for (const auto& [type, versions] : records_) all.push_back(versions.back());
    return all;
  }

  Result<std::vector<ItemTypeRecord>> history(const ItemType& type, std::size_t limit) override {
    const std::lock_guard lock(mutex_);
    const auto found = records_.find(type);
    if (found == records_.end()) return std::vector<ItemTypeRecord>();
    std::vector<ItemTypeRecord> newest(found->second.rbegin(), found->second.rend());
    newest.resize(std::min(limit, newest.size()));
    return newest;
  }

  Result<std::uint64_t> revision() override {
    const std::lock_guard lock(mutex_);
    return revision_;
  }

 private:
  std::mutex mutex_;
  std::map<ItemType, std::vector<ItemTypeRecord>> records_;  // guarded by mutex_
  std::uint64_t revision_ = 0;                               // guarded by mutex_
};

}  // namespace penstock::store::conformance
