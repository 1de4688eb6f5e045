#include "service/throttle/throttle_metrics.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace penstock::service {
namespace {

// A decision in memory takes about a microsecond, one over the network a few milliseconds.
std::vector<double> latency_bounds_millis() {
  return {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
          1,     2.5,    5,     10,   25,    50,   100, 1000};
}

}  // namespace

// Counters only grow: the smallest count that was seen last bounds all of them from below.
std::size_t DeniedKeys::Stripe::find_least() noexcept {
  for (std::size_t seen = 0; seen < kCountersPerStripe; ++seen) {
    const std::size_t at = next;
    next = (next + 1) % kCountersPerStripe;
    if (counts[at] == least) return at;
  }
  const auto found = std::ranges::min_element(counts);
  least = *found;
  return static_cast<std::size_t>(found - counts.begin());
}

void DeniedKeys::add(std::string_view key) {
  const std::uint64_t hash = std::hash<std::string_view>{}(key);
  Stripe& stripe = stripes_[hash % kStripes];
  const std::lock_guard lock(stripe.mutex);
  for (std::size_t i = 0; i < stripe.used; ++i) {
    if (stripe.hashes[i] == hash && stripe.keys[i] == key) {
      ++stripe.counts[i];
      return;
    }
  }
  std::size_t at = stripe.used;
  std::uint64_t inherited = 0;
  if (stripe.used < kCountersPerStripe) {
    ++stripe.used;
  } else {
    // The key with fewest makes room; what it had is what the new one may have had unseen.
    at = stripe.find_least();
    inherited = stripe.counts[at];
  }
  stripe.hashes[at] = hash;
  stripe.keys[at].assign(key);
  stripe.counts[at] = inherited + 1;
  stripe.errors[at] = inherited;
}

std::vector<DeniedKey> DeniedKeys::top(std::size_t limit) const {
  std::vector<DeniedKey> all;
  all.reserve(kStripes * kCountersPerStripe);
  for (const Stripe& stripe : stripes_) {
    const std::lock_guard lock(stripe.mutex);
    for (std::size_t i = 0; i < stripe.used; ++i) {
      all.push_back({stripe.keys[i], stripe.counts[i], stripe.errors[i]});
    }
  }
  const auto order = [](const DeniedKey& a, const DeniedKey& b) {
    return a.denied != b.denied ? a.denied > b.denied : a.key < b.key;
  };
  const std::size_t kept = std::min(limit, all.size());
  std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(kept), order);
  all.resize(kept);
  return all;
}

runtime::Gauge* TokensRemaining::find(std::int64_t id) const noexcept {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[(static_cast<std::size_t>(id) + i) % slots_.size()];
    const std::int64_t taken = slot.taken.load(std::memory_order_acquire);
    if (taken == id + 1) return slot.gauge;
    if (taken == 0) return nullptr;
  }
  return nullptr;
}

runtime::Gauge* TokensRemaining::make(const core::Policy& policy) {
  const std::lock_guard lock(mutex_);
  if (runtime::Gauge* made = find(policy.id)) return made;
  if (series_ == kSeriesMax) {
    full_.store(true, std::memory_order_relaxed);
    return nullptr;
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[(static_cast<std::size_t>(policy.id) + i) % slots_.size()];
    if (slot.taken.load(std::memory_order_relaxed) != 0) continue;
    ++series_;
    // The default policy has no id of a store, and its name may also be the key of one that has.
    const std::string label = policy.id == 0 ? "(default)" : policy.draft.key;
    slot.gauge =
        &metrics_.gauge("throttlex_tokens_remaining",
                        "Tokens left by the last decision under a policy", {{"policy", label}});
    slot.taken.store(policy.id + 1, std::memory_order_release);
    return slot.gauge;
  }
  return nullptr;
}

void TokensRemaining::set(const core::Policy& policy, std::int64_t remaining) {
  runtime::Gauge* gauge = find(policy.id);
  if (gauge == nullptr && !full_.load(std::memory_order_relaxed)) gauge = make(policy);
  if (gauge != nullptr) gauge->set(static_cast<double>(remaining));
}

ThrottleMetrics::ThrottleMetrics(runtime::Metrics& metrics, bool tokens_remaining)
    : allowed_(metrics.counter("throttlex_allowed_total", "Requests let through")),
      blocked_(metrics.counter("throttlex_blocked_total", "Requests denied by a limit")),
      shadow_denied_(metrics.counter("penstock_throttle_shadow_denied_total",
                                     "Requests that a shadow policy would have denied")),
      store_failures_(metrics.counter("penstock_throttle_store_failures_total",
                                      "Requests whose usage could not be asked")),
      clients_(metrics, "penstock_resp_decisions_total", "Decisions of CL.THROTTLE",
               {"allowed", "limited", "error"}),
      policies_restored_(
          metrics.counter("penstock_throttle_policies_restored_total",
                          "Policies that this node wrote back to a store that had lost them")),
      policies_missing_(metrics.gauge("penstock_throttle_policies_missing",
                                      "Policies in force on this node that the store has lost")),
      latency_(metrics.histogram("throttlex_latency_ms", "Time of a throttle decision in ms",
                                 latency_bounds_millis())),
      tokens_enabled_(tokens_remaining),
      tokens_(metrics) {}

void ThrottleMetrics::count_clients(const ClientTotals& told, std::uint64_t allowed,
                                    std::uint64_t blocked) noexcept {
  // Most batches have one outcome, and all threads share these counters.
  const auto add = [](runtime::Counter& counter, std::uint64_t n) {
    if (n > 0) counter.add(n);
  };
  add(allowed_, allowed);
  add(blocked_, blocked);
  add(store_failures_, told.errors);
  add(clients_[ClientOutcome::allowed], told.allowed);
  add(clients_[ClientOutcome::limited], told.limited);
  add(clients_[ClientOutcome::error], told.errors);
}

ThrottleMetrics::ClientTotals ThrottleMetrics::client_totals() const noexcept {
  return {.allowed = clients_[ClientOutcome::allowed].value(),
          .limited = clients_[ClientOutcome::limited].value(),
          .errors = clients_[ClientOutcome::error].value()};
}

core::ThrottleTotals ThrottleMetrics::totals() const noexcept {
  return {.allowed = allowed_.value(),
          .blocked = blocked_.value(),
          .shadow_denied = shadow_denied_.value()};
}

}  // namespace penstock::service
