// What a Limiter is made of: policies of which each thread reads its own snapshot, and the limits
// in memory. Thread-safe.
#pragma once

#include <penstock/decision.h>
#include <penstock/limiter.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "core/policy/decision.h"
#include "core/policy/policy.h"
#include "core/policy/policy_set.h"
#include "runtime/snapshot.h"
#include "runtime/steady_wall_clock.h"
#include "store/memory/memory_limits.h"

namespace penstock::library {

// The caller's function, or the machine's clock.
class LibraryClock final : public Clock {
 public:
  explicit LibraryClock(ClockFunction function) noexcept : function_(function) {}

  [[gnu::always_inline]] Instant now() const noexcept override {
    return function_ == nullptr ? machine_.now_inline() : told();
  }

 private:
  Instant told() const noexcept;

  const ClockFunction function_;
  const runtime::SteadyWallClock machine_;
};

[[gnu::always_inline]] inline Decision admission(std::string_view key, const core::Limit& limit,
                                                 const core::FastCharge& charge) noexcept {
  return {.allowed = true,
          .limit = limit.capacity,
          .remaining = charge.remaining(),
          .reset_after = charge.reset_after(),
          .key = key};
}
Decision decision_of(std::string_view key, const core::LimitStatus& status, bool shadow) noexcept;

class Engine {
 public:
  Engine(std::size_t max_keys, ClockFunction clock, core::PolicyDraft fallback);

  void put_policy(core::PolicyDraft draft);
  void put_fallback(core::PolicyDraft draft);
  bool remove_policy(std::string_view key);
  // Valid until this thread calls anything here again.
  const core::PolicySet& policies() const { return policies_.current(); }

  // `cost` as the core has it: 0 looks, below 0 gives back.
  Decision decide(std::string_view key, std::int64_t cost);
  // The same, of a key and a cost that are good. Always inline: the work is some thirty
  // nanoseconds, of which calls and copies would be a third.
  Decision decide_good(std::string_view key, std::int64_t cost);
  // At most as many as a group of the store.
  void decide_group(std::span<const Check> checks, std::span<Decision> decisions);
  // The policies that it names are valid until this thread calls anything here again.
  void decide_all(const core::ThrottleCall& call, core::ThrottleDecision& decision);
  bool reset(std::string_view key);
  std::size_t key_count() const { return limits_.memory_use().keys; }

  static constexpr std::size_t kGroup = store::memory::kGroup;

 private:
  std::shared_ptr<const core::PolicySet> compile() const;

  const LibraryClock clock_;
  store::memory::MemoryLimits limits_;
  std::mutex mutex_;
  std::map<std::string, core::Policy, std::less<>> known_;  // guarded by mutex_
  core::Policy fallback_;                                   // guarded by mutex_
  std::int64_t next_id_ = 1;                                // guarded by mutex_
  runtime::Snapshot<core::PolicySet> policies_;             // of known_; published under mutex_
};

inline bool good_key(std::string_view key) noexcept {
  return !key.empty() && key.size() <= store::memory::kKeyBytesMax;
}

inline bool good_cost(std::int64_t cost) noexcept {
  return cost >= -core::kCostMax && cost <= core::kCostMax;
}

inline CheckError error_of(std::string_view key, std::int64_t cost) noexcept {
  if (!good_key(key)) return CheckError::bad_key;
  return good_cost(cost) ? CheckError::none : CheckError::bad_cost;
}

inline Decision Engine::decide(std::string_view key, std::int64_t cost) {
  if (const CheckError error = error_of(key, cost); error != CheckError::none) [[unlikely]] {
    return {.error = error};
  }
  return decide_good(key, cost);
}

[[gnu::always_inline]] inline Decision Engine::decide_good(std::string_view key,
                                                           std::int64_t cost) {
  const core::PolicyDraft& policy = policies().match(key).draft;
  return limits_.decide_key(
      key, policy.limit, cost, clock_.now(),
      [&](const core::FastCharge& charge) { return admission(key, policy.limit, charge); },
      [&](const core::LimitStatus& status) { return decision_of(key, status, policy.shadow); });
}

}  // namespace penstock::library
