#include "store/limits/embedded/policy_index.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "engine/rocksdb/records.h"
#include "store/limits/embedded/policy_encoding.h"

namespace penstock::store::embedded {

Result<void> PolicyIndex::load(const Engine::View& view) {
  const std::optional<std::uint64_t> revision = PENSTOCK_TRY(
      view.find(Family::meta, kPolicyRevisionKey, "read the database", decode_revision));
  std::vector<core::Policy> newest = PENSTOCK_TRY(read_first_of_each(
      view, Family::throttle_policy, decode_policy,
      [](const core::Policy& each) { return policy_record_key(each.draft.key); }));
  Policies fresh;
  std::int64_t id_max = 0;
  for (core::Policy& policy : newest) {
    id_max = std::max(id_max, policy.id);
    std::string key = policy.draft.key;
    fresh.insert_or_assign(std::move(key), std::move(policy));
  }
  const std::lock_guard lock(mutex_);
  policies_.swap(fresh);
  revision_ = revision.value_or(0);
  id_max_ = id_max;
  return {};
}

std::optional<core::Policy> PolicyIndex::newest(std::string_view key) const {
  const std::shared_lock lock(mutex_);
  const auto found = policies_.find(key);
  if (found == policies_.end()) return std::nullopt;
  return found->second;
}

std::vector<core::Policy> PolicyIndex::list(std::string_view after, std::size_t limit) const {
  const std::shared_lock lock(mutex_);
  std::vector<core::Policy> policies;
  for (auto at = policies_.upper_bound(after); at != policies_.end() && policies.size() < limit;
       ++at) {
    if (!at->second.deleted) policies.push_back(at->second);
  }
  return policies;
}

std::uint64_t PolicyIndex::revision() const {
  const std::shared_lock lock(mutex_);
  return revision_;
}

std::int64_t PolicyIndex::next_id() const {
  const std::shared_lock lock(mutex_);
  return id_max_ + 1;
}

void PolicyIndex::set(const core::Policy& policy, std::uint64_t revision) {
  const std::lock_guard lock(mutex_);
  policies_.insert_or_assign(policy.draft.key, policy);
  revision_ = revision;
  id_max_ = std::max(id_max_, policy.id);
}

}  // namespace penstock::store::embedded
