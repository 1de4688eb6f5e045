// The newest version of every policy, ends (deleted) too, since a key that is created again goes on
// counting. Changed by the writer; readable by any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/policy/policy.h"
#include "engine/rocksdb/engine.h"

namespace penstock::store::embedded {

class PolicyIndex {
 public:
  // Reads all of it anew.
  Result<void> load(const Engine::View& view);

  // Deleted ones as well.
  std::optional<core::Policy> newest(std::string_view key) const;
  // In force, in the order of their keys, after `after`.
  std::vector<core::Policy> list(std::string_view after, std::size_t limit) const;
  std::uint64_t revision() const;
  std::int64_t next_id() const;

  void set(const core::Policy& policy, std::uint64_t revision);

 private:
  using Policies = std::map<std::string, core::Policy, std::less<>>;

  mutable std::shared_mutex mutex_;
  Policies policies_;           // guarded by mutex_
  std::uint64_t revision_ = 0;  // guarded by mutex_
  std::int64_t id_max_ = 0;     // guarded by mutex_
};

}  // namespace penstock::store::embedded
