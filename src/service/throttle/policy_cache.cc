#include "service/throttle/policy_cache.h"

#include <utility>
#include <vector>

namespace penstock::service {
namespace {

constexpr std::size_t kPage = 1'000;  // policies in one read of the store

}  // namespace

PolicyCache::PolicyCache(store::PolicyStore& store, core::PolicyDraft fallback)
    : store_(store), fallback_{.draft = std::move(fallback)}, set_(compile()) {}

Result<bool> PolicyCache::refresh() {
  // Asked before the policies are read: a change in between is then found by the next refresh.
  const Result<std::uint64_t> revision = store_.revision();
  if (!revision) return std::unexpected(revision.error());
  std::uint64_t changes_before = 0;
  {
    const std::lock_guard lock(mutex_);
    if (revision_ == *revision) return false;
    changes_before = changes_;
  }
  Result<Policies> policies = load();
  if (!policies) return std::unexpected(policies.error());
  const std::lock_guard lock(mutex_);
  if (changes_ != changes_before) return false;  // what was read may lack an own change
  policies_ = std::move(*policies);
  revision_ = *revision;
  set_.publish(compile());
  return true;
}

Result<PolicyCache::Policies> PolicyCache::load() {
  Policies policies;
  std::string after;
  for (;;) {
    Result<std::vector<core::Policy>> page = store_.list(after, kPage);
    if (!page) return std::unexpected(std::move(page.error()));
    if (page->empty()) return policies;
    after = page->back().draft.key;
    const bool last = page->size() < kPage;
    for (core::Policy& policy : *page) {
      std::string key = policy.draft.key;
      policies.insert_or_assign(std::move(key), std::move(policy));
    }
    if (last) return policies;
  }
}

void PolicyCache::put(const core::Policy& policy) {
  const std::lock_guard lock(mutex_);
  ++changes_;
  core::Policy& known = policies_[policy.draft.key];
  if (known.version > policy.version) return;
  known = policy;
  set_.publish(compile());
}

void PolicyCache::erase(std::string_view key) {
  const std::lock_guard lock(mutex_);
  ++changes_;
  const auto found = policies_.find(key);
  if (found == policies_.end()) return;
  policies_.erase(found);
  set_.publish(compile());
}

std::shared_ptr<const core::PolicySet> PolicyCache::compile() const {
  std::vector<core::Policy> policies;
  policies.reserve(policies_.size());
  for (const auto& [key, policy] : policies_) policies.push_back(policy);
  return std::make_shared<const core::PolicySet>(std::move(policies), fallback_);
}

}  // namespace penstock::service
