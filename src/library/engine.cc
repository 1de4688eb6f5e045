#include "library/engine.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/check.h"

namespace penstock::library {
Decision decision_of(std::string_view key, const core::LimitStatus& status, bool shadow) noexcept {
  return {.allowed = status.admitted || shadow,
          .shadow_denied = shadow && !status.admitted,
          .limit = status.limit,
          .remaining = status.remaining,
          .retry_after = status.retry_after,
          .reset_after = status.reset_after,
          .key = key};
}

[[gnu::cold]] Instant LibraryClock::told() const noexcept {
  // What the arithmetic of limits relies on; no caller's real time lies outside.
  const Micros micros = function_();
  return std::clamp(Instant{micros}, kInstantMin + Micros{1}, kInstantEnd);
}

Engine::Engine(std::size_t max_keys, ClockFunction clock, core::PolicyDraft fallback)
    : clock_(clock),
      limits_({.max_keys = max_keys}, clock_),
      fallback_{.draft = std::move(fallback)},
      policies_(compile()) {}

std::shared_ptr<const core::PolicySet> Engine::compile() const {
  std::vector<core::Policy> all;
  all.reserve(known_.size());
  for (const auto& [key, policy] : known_) all.push_back(policy);
  return std::make_shared<const core::PolicySet>(std::move(all), fallback_);
}

void Engine::put_policy(core::PolicyDraft draft) {
  const std::lock_guard lock(mutex_);
  core::Policy& policy = known_[draft.key];
  if (policy.id == 0) policy.id = next_id_++;
  policy.draft = std::move(draft);
  policies_.publish(compile());
}

void Engine::put_fallback(core::PolicyDraft draft) {
  const std::lock_guard lock(mutex_);
  fallback_.draft = std::move(draft);
  policies_.publish(compile());
}

bool Engine::remove_policy(std::string_view key) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(key);
  if (found == known_.end()) return false;
  known_.erase(found);
  policies_.publish(compile());
  return true;
}

BoundEntry Engine::bind(std::string_view key) const { return {.key = limits_.placed(key)}; }

Decision Engine::decide_anew(BoundEntry& bound, std::int64_t cost) {
  const auto& [stamp, set] = policies_.current_version();
  const core::Policy& policy = set->match(bound.key.text());
  limits_.with_lock(bound.key, [&] {
    bound.stamp = stamp;
    bound.limit = policy.draft.limit;
    bound.quick = policy.quick;
    bound.shadow = policy.draft.shadow;
  });
  return decide_good(bound.key.text(), cost);
}

void Engine::decide_group(std::span<const Check> checks, std::span<Decision> decisions) {
  PENSTOCK_CHECK(checks.size() <= kGroup);
  const core::PolicySet& set = policies();
  std::array<store::memory::KeyCharge, kGroup> charges;
  std::array<const core::Policy*, kGroup> matched;
  std::array<Decision*, kGroup> places;
  std::size_t count = 0;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const auto& [key, cost] = checks[i];
    const CheckError error = cost < 0 ? CheckError::bad_cost : error_of(key, cost);
    if (error != CheckError::none) [[unlikely]] {
      decisions[i] = {.error = error};
      continue;
    }
    matched[count] = &set.match(key);
    charges[count] = {.key = key, .limit = &matched[count]->draft.limit, .cost = cost};
    places[count++] = &decisions[i];
  }
  limits_.decide_keys(
      std::span(charges).first(count), clock_.now(),
      [&](std::size_t i, const core::FastCharge& charge) {
        *places[i] = admission(charges[i].key, *matched[i], charge);
      },
      [&](std::size_t i, const core::LimitStatus& status) {
        *places[i] = decision_of(charges[i].key, status, matched[i]->draft.shadow);
      });
}

void Engine::decide_all(const core::ThrottleCall& call, core::ThrottleDecision& decision) {
  const core::PolicySet& set = policies();
  std::array<store::LimitCheck, core::kThrottleKeysMax> checks;
  decision.count = call.key_count;
  for (std::size_t i = 0; i < call.key_count; ++i) {
    const core::Policy& policy = set.match(call.keys[i]);
    decision.keys[i] = call.keys[i];
    decision.policies[i] = &policy;
    checks[i] = {.key = call.keys[i], .limit = policy.draft.limit, .shadow = policy.draft.shadow};
  }
  const store::LimitRequest request{.checks = std::span(checks).first(call.key_count),
                                    .cost = call.cost,
                                    .statuses = std::span(decision.statuses).first(call.key_count)};
  Result<store::LimitAnswer> answer;
  limits_.apply({&request, 1}, clock_.now(), {&answer, 1});
  PENSTOCK_CHECK(answer.has_value());  // the keys and their number are good
  decision.allowed = answer->admitted;
  decision.bound = answer->bound;
}

bool Engine::reset(std::string_view key) {
  return good_key(key) && limits_.reset(key).value_or(false);
}

}  // namespace penstock::library
