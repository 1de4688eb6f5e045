// For tests: stores of limits and policies in plain maps, which can be told to fail.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/policy/policy.h"
#include "store/limits/ports.h"

namespace penstock::service {

inline core::PolicyDraft policy_draft(std::string key, std::int64_t capacity = 2) {
  core::PolicyDraft made = core::default_policy_draft();
  made.key = std::move(key);
  made.limit.capacity = capacity;
  return made;
}

// A counter per key that never goes down by itself.
class FakeLimits final : public store::LimitStore {
 public:
  static constexpr Micros kRetryAfter = Millis{1'500};
  static constexpr Micros kResetAfter = Seconds{3};

  std::atomic<bool> away{false};
  std::atomic<int> applied{0};  // calls of apply()

  void apply(std::span<const store::LimitRequest> requests, std::optional<Instant> /*now*/,
             std::span<Result<store::LimitAnswer>> answers) override {
    ++applied;
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      answers[i] = away ? fail(ErrorKind::unavailable, "the store is away")
                        : Result<store::LimitAnswer>(decide(requests[i]));
    }
  }

  Result<bool> reset(std::string_view key) override {
    const std::lock_guard lock(mutex_);
    return uses_.erase(std::string(key)) > 0;
  }

  Result<std::optional<store::KeyUse>> find(std::string_view key,
                                            std::optional<Instant> /*now*/) override {
    const std::lock_guard lock(mutex_);
    const auto found = uses_.find(std::string(key));
    if (found == uses_.end()) return std::nullopt;
    return found->second;
  }

  Result<std::vector<store::KeyUse>> list(std::string_view after, std::size_t limit,
                                          std::optional<Instant> /*now*/) override {
    const std::lock_guard lock(mutex_);
    std::vector<store::KeyUse> page;
    for (auto at = uses_.upper_bound(std::string(after)); at != uses_.end() && page.size() < limit;
         ++at) {
      page.push_back(at->second);
    }
    return page;
  }

 private:
  store::LimitAnswer decide(const store::LimitRequest& request) {
    store::LimitAnswer answer{.admitted = true};
    for (std::size_t i = 0; i < request.checks.size(); ++i) {
      const store::LimitCheck& check = request.checks[i];
      const std::int64_t left = check.limit.capacity - uses_[std::string(check.key)].used;
      core::LimitStatus& status = request.statuses[i];
      status = {.admitted = request.cost <= 0 || request.cost <= left,
                .limit = check.limit.capacity,
                .remaining = left,
                .retry_after = Micros{0},
                .reset_after = kResetAfter};
      if (status.admitted) continue;
      status.retry_after = request.cost > check.limit.capacity ? core::kNever : kRetryAfter;
      if (check.shadow || !answer.admitted) continue;
      answer = {.admitted = false, .bound = i};
    }
    if (answer.admitted) charge(request, answer);
    return answer;
  }

  void charge(const store::LimitRequest& request, store::LimitAnswer& answer) {
    for (std::size_t i = 0; i < request.checks.size(); ++i) {
      if (!request.statuses[i].admitted) continue;
      const store::LimitCheck& check = request.checks[i];
      store::KeyUse& use = uses_[std::string(check.key)];
      use.key = check.key;
      use.limit = check.limit;
      use.used += request.cost;
      use.window_count += request.cost;
      request.statuses[i].remaining -= request.cost;
      if (request.statuses[i].remaining < request.statuses[answer.bound].remaining) {
        answer.bound = i;
      }
    }
  }

  std::mutex mutex_;
  std::map<std::string, store::KeyUse> uses_;
};

class FakePolicies final : public store::PolicyStore, public store::PolicyRecovery {
 public:
  using Versions = std::map<std::string, std::vector<core::Policy>>;

  explicit FakePolicies(bool forgetful = false) : forgetful_(forgetful) {}

  std::atomic<bool> away{false};
  std::atomic<bool> takes_no_writes{false};   // of restore()
  std::atomic<int> lists{0};                  // calls of list()
  std::function<void()> before_list = [] {};  // called before newest() reads
  std::function<void()> after_list = [] {};   // called when a page has been read

  Result<std::optional<core::Policy>> find(std::string_view key) override {
    const std::lock_guard lock(mutex_);
    if (away) return gone();
    const auto found = versions_.find(std::string(key));
    if (found == versions_.end() || found->second.back().deleted) return std::nullopt;
    return found->second.back();
  }

  Result<core::Policy> create(const core::PolicyDraft& draft,
                              std::optional<Instant> /*now*/) override {
    const std::lock_guard lock(mutex_);
    if (away) return gone();
    const auto found = versions_.find(draft.key);
    if (found != versions_.end() && !found->second.back().deleted) {
      return fail(ErrorKind::conflict, "this key has a policy");
    }
    return add(draft);
  }

  Result<core::Policy> update(const core::PolicyDraft& draft,
                              std::optional<Instant> /*now*/) override {
    const std::lock_guard lock(mutex_);
    if (away) return gone();
    return add(draft);
  }

  Result<void> remove(std::string_view key, std::optional<Instant> /*now*/) override {
    const std::lock_guard lock(mutex_);
    if (away) return gone();
    const core::PolicyDraft last = versions_.at(std::string(key)).back().draft;
    add(last).deleted = true;
    return {};
  }

  Result<std::vector<core::Policy>> list(std::string_view after, std::size_t limit) override {
    Result<std::vector<core::Policy>> page = read_page(after, limit);
    after_list();
    return page;
  }

  Result<std::vector<core::Policy>> history(std::string_view key, std::size_t limit) override {
    const std::lock_guard lock(mutex_);
    if (away) return gone();
    const auto found = versions_.find(std::string(key));
    if (found == versions_.end()) return std::vector<core::Policy>{};
    std::vector<core::Policy> newest(found->second.rbegin(), found->second.rend());
    newest.resize(std::min(limit, newest.size()));
    return newest;
  }

  Result<std::uint64_t> revision() override {
    const std::lock_guard lock(mutex_);
    if (away) return gone();
    return revision_;
  }

  store::PolicyRecovery* recovery() noexcept override { return forgetful_ ? this : nullptr; }
  Result<Mark> mark() override {
    const std::lock_guard lock(mutex_);
    if (away) return gone();
    return Mark{.epoch = epoch_, .revision = revision_};
  }
  Result<std::vector<core::Policy>> newest() override {
    const std::function<void()> hook = before_list;  // it may replace itself
    hook();
    std::vector<core::Policy> all;
    {
      const std::lock_guard lock(mutex_);
      ++lists;
      if (away) return gone();
      for (const auto& [key, versions] : versions_) all.push_back(versions.back());
    }
    after_list();
    return all;
  }
  Result<std::size_t> restore(std::span<const core::Policy> known) override {
    const std::lock_guard lock(mutex_);
    if (away || takes_no_writes) return gone();
    std::size_t written = 0;
    for (const core::Policy& policy : known) {
      std::vector<core::Policy>& versions = versions_[policy.draft.key];
      if (!versions.empty() && versions.back().version >= policy.version) continue;
      versions.push_back(policy);
      ++written;
    }
    if (written > 0) {
      epoch_ += "r";
      ++revision_;
    }
    return written;
  }

  // What FLUSHALL does, and a restart with an older file.
  void empty() {
    const std::lock_guard lock(mutex_);
    versions_.clear();
    revision_ = 0;
    epoch_.clear();
  }
  std::pair<Versions, std::uint64_t> dump() {
    const std::lock_guard lock(mutex_);
    return {versions_, revision_};
  }
  void go_back_to(const std::pair<Versions, std::uint64_t>& dump) {
    const std::lock_guard lock(mutex_);
    std::tie(versions_, revision_) = dump;
  }

 private:
  static std::unexpected<Error> gone() { return fail(ErrorKind::unavailable, "the store is away"); }

  Result<std::vector<core::Policy>> read_page(std::string_view after, std::size_t limit) {
    const std::lock_guard lock(mutex_);
    ++lists;
    if (away) return gone();
    std::vector<core::Policy> page;
    for (auto at = versions_.upper_bound(std::string(after));
         at != versions_.end() && page.size() < limit; ++at) {
      if (!at->second.back().deleted) page.push_back(at->second.back());
    }
    return page;
  }

  core::Policy& add(const core::PolicyDraft& draft) {
    ++revision_;
    if (epoch_.empty()) epoch_ = "e" + std::to_string(++epochs_);
    std::vector<core::Policy>& versions = versions_[draft.key];
    const std::int64_t id =
        versions.empty() ? static_cast<std::int64_t>(versions_.size()) : versions.front().id;
    const std::int64_t version = versions.empty() ? 1 : versions.back().version + 1;
    versions.push_back({.id = id, .version = version, .draft = draft});
    return versions.back();
  }

  std::mutex mutex_;
  Versions versions_;
  std::uint64_t revision_ = 0;
  std::string epoch_;
  int epochs_ = 0;
  const bool forgetful_;
};

}  // namespace penstock::service
