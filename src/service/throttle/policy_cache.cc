#include "service/throttle/policy_cache.h"

#include <utility>
#include <vector>

namespace penstock::service {
namespace {

constexpr std::size_t kPage = 1'000;  // policies in one read of the store

}  // namespace

PolicyCache::PolicyCache(store::PolicyStore& store, core::PolicyDraft fallback)
    : store_(store),
      recovery_(store.recovery()),
      fallback_{.draft = std::move(fallback)},
      set_(compile()) {}

Result<bool> PolicyCache::refresh(Loss* loss) {
  // Once more after something was written back.
  for (bool again = false;; again = true) {
    // Asked before the policies are read: a change in between is then found by the next refresh.
    const Mark mark = PENSTOCK_TRY(ask_mark());
    std::uint64_t changes_before = 0;
    {
      const std::lock_guard lock(mutex_);
      if (mark_ == mark) {
        settle();
        return false;
      }
      changes_before = changes_;
    }
    Result<Policies> policies = load();
    if (!policies) return std::unexpected(policies.error());
    std::vector<core::Policy> missing;
    {
      const std::lock_guard lock(mutex_);
      if (changes_ != changes_before) return false;  // what was read may lack an own change
      missing = missing_in(*policies);
      if (missing.empty()) {
        policies_ = std::move(*policies);
        mark_ = mark;
        set_.publish(compile());
        return true;
      }
    }
    if (loss != nullptr) loss->missing = missing.size();
    if (again) return fail(ErrorKind::unavailable, "the store loses policies again and again");
    const std::size_t restored = PENSTOCK_TRY(recovery_->restore(missing));
    if (loss != nullptr) loss->restored = restored;
  }
}

Result<PolicyCache::Mark> PolicyCache::ask_mark() {
  if (recovery_ != nullptr) return recovery_->mark();
  const std::uint64_t revision = PENSTOCK_TRY(store_.revision());
  return Mark{.epoch = {}, .revision = revision};
}

std::vector<core::Policy> PolicyCache::missing_in(const Policies& stored) const {
  std::vector<core::Policy> missing;
  if (recovery_ == nullptr) return missing;
  for (const auto& [key, known] : policies_) {
    const auto found = stored.find(key);
    if (found == stored.end() || found->second.version < known.version) missing.push_back(known);
  }
  return missing;
}

Result<PolicyCache::Policies> PolicyCache::load() {
  Policies policies;
  if (recovery_ != nullptr) {
    std::vector<core::Policy> newest = PENSTOCK_TRY(recovery_->newest());
    for (core::Policy& policy : newest) {
      std::string key = policy.draft.key;
      policies.insert_or_assign(std::move(key), std::move(policy));
    }
    return policies;
  }
  std::string after;
  for (;;) {
    std::vector<core::Policy> page = PENSTOCK_TRY(store_.list(after, kPage));
    if (page.empty()) return policies;
    after = page.back().draft.key;
    const bool last = page.size() < kPage;
    for (core::Policy& policy : page) {
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
  if (known.version >= policy.version) return;
  known = policy;
  if (mark_) ++mark_->revision;  // by at least one: a store that counts faster is read again
  set_.publish(set_.pin()->with(policy));
}

void PolicyCache::erase(std::string_view key) {
  const std::lock_guard lock(mutex_);
  ++changes_;
  const auto found = policies_.find(key);
  if (found == policies_.end() || found->second.deleted) return;
  if (recovery_ != nullptr) {
    found->second.deleted = true;
    ++found->second.version;
  } else {
    policies_.erase(found);
  }
  if (mark_) ++mark_->revision;
  set_.publish(set_.pin()->without(key));
}

void PolicyCache::settle() {
  quiet_ = changes_ == changes_settled_ ? quiet_ + 1 : 0;
  changes_settled_ = changes_;
  if (quiet_ >= kQuietRefreshes && !set_.pin()->whole()) set_.publish(compile());
}

std::shared_ptr<const core::PolicySet> PolicyCache::compile() const {
  std::vector<core::Policy> policies;
  policies.reserve(policies_.size());
  for (const auto& [key, policy] : policies_) {
    if (!policy.deleted) policies.push_back(policy);
  }
  return std::make_shared<const core::PolicySet>(std::move(policies), fallback_);
}

}  // namespace penstock::service
