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
#include "runtime/clocks.h"
#include "runtime/snapshot.h"
#include "store/limits/memory/memory_limits.h"

namespace penstock::library {

// The caller's function, or the machine's clock.
class LibraryClock final : public Clock {
 public:
  explicit LibraryClock(ClockFunction function) noexcept : function_(function) {}

  Instant now() const noexcept override { return function_ == nullptr ? machine_.now() : told(); }

  // now() in two steps, as TickMoment: made right after the reading, asked once and soon.
  class Moment {
   public:
    [[gnu::always_inline]] Moment(const LibraryClock& clock, std::uint64_t ticks) noexcept
        : clock_(clock), ticks_(ticks) {
      if (clock.function_ != nullptr) [[unlikely]]
        told_ = clock.told();
    }
    [[gnu::always_inline]] Instant operator()() const noexcept {
      if (clock_.function_ == nullptr) [[likely]]
        return clock_.machine_.at(ticks_);
      return told_;
    }

   private:
    const LibraryClock& clock_;
    const runtime::TickMoment ticks_;
    Instant told_{};
  };

 private:
  Instant told() const noexcept;

  const ClockFunction function_;
  const runtime::SteadyWallClock machine_;
};

[[gnu::always_inline]] inline Decision admission(std::string_view key, std::int64_t capacity,
                                                 const core::RateReciprocals& quick,
                                                 const core::FastCharge& charge) noexcept {
  return {.allowed = true,
          .limit = capacity,
          .remaining = charge.remaining(quick),
          .reset_after = charge.reset_after(quick),
          .key = key};
}
[[gnu::always_inline]] inline Decision admission(std::string_view key, const core::Policy& policy,
                                                 const core::FastCharge& charge) noexcept {
  return admission(key, policy.draft.limit.capacity, policy.quick, charge);
}
Decision decision_of(std::string_view key, const core::LimitStatus& status, bool shadow) noexcept;

// A key with what was found out about it: where its usage is, and what the policy says that counts.
// Safe on any thread.
struct BoundEntry {
  store::memory::PlacedKey key;
  // The rest is guarded by the key's lock. It is a copy, since a thread that decides holds no
  // version of the policies.
  std::uint64_t stamp = 0;  // of the policies that it was copied from; 0 = not yet
  core::Limit limit = {};
  core::RateReciprocals quick = {};
  bool shadow = false;
};

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
  // The key is good.
  BoundEntry bind(std::string_view key) const;
  // As decide_good(), without looking for what is known already.
  Decision decide_bound(BoundEntry& bound, std::int64_t cost);
  // At most as many as a group of the store.
  void decide_group(std::span<const Check> checks, std::span<Decision> decisions);
  // The policies that it names are valid until this thread calls anything here again.
  void decide_all(const core::ThrottleCall& call, core::ThrottleDecision& decision);
  bool reset(std::string_view key);
  std::size_t key_count() const { return limits_.memory_use().keys; }

  static constexpr std::size_t kGroup = store::memory::kGroup;

 private:
  std::shared_ptr<const core::PolicySet> compile() const;
  // The policies are others than those of the copy.
  Decision decide_anew(BoundEntry& bound, std::int64_t cost);

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
  const std::uint64_t ticks = runtime::TickMoment::read();
  const LibraryClock::Moment now(clock_, ticks);
  const core::Policy& policy = policies().match(key);
  return limits_.decide_key(
      key, policy.draft.limit, cost, now,
      [&](const core::FastCharge& charge) { return admission(key, policy, charge); },
      [&](const core::LimitStatus& status) {
        return decision_of(key, status, policy.draft.shadow);
      });
}

[[gnu::always_inline]] inline Decision Engine::decide_bound(BoundEntry& bound, std::int64_t cost) {
  const std::uint64_t ticks = runtime::TickMoment::read();
  const LibraryClock::Moment now(clock_, ticks);
  std::int64_t capacity = 0;
  core::RateReciprocals quick;
  bool shadow = false;
  return limits_.decide_key(
      bound.key,
      [&]() -> const core::Limit* {
        if (bound.stamp != policies_.stamp()) [[unlikely]]
          return nullptr;
        // The answer is worked out when the lock is free.
        capacity = bound.limit.capacity;
        quick = bound.quick;
        shadow = bound.shadow;
        return &bound.limit;
      },
      cost, now,
      [&](const core::FastCharge& charge) {
        return admission(bound.key.text(), capacity, quick, charge);
      },
      [&](const core::LimitStatus& status) {
        return decision_of(bound.key.text(), status, shadow);
      },
      [&] { return decide_anew(bound, cost); });
}

}  // namespace penstock::library
