// What throttle decisions are counted by: the metrics, and the keys that were denied most. Safe on
// any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/policy/decision.h"
#include "core/policy/policy.h"
#include "runtime/metrics.h"
#include "service/outcome_counters.h"

namespace penstock::service {

// Which keys were denied most, in bounded memory: a space-saving sketch. Every key that was denied
// more often than a stripe's denials / its counters is in it; a count is never below the truth and
// at most `error` above it.
struct DeniedKey {
  std::string key;
  std::uint64_t denied = 0;
  std::uint64_t error = 0;  // of `denied`, at most, upwards

  friend bool operator==(const DeniedKey&, const DeniedKey&) = default;
};

class DeniedKeys {
 public:
  // Eight locks for as many threads as decide; 128 counters are looked through in well under a
  // microsecond. Together with keys of the usual size some 100 KB, at worst 600 KB.
  static constexpr std::size_t kStripes = 8;
  static constexpr std::size_t kCountersPerStripe = 128;

  void add(std::string_view key);
  // The most denied first, then by key; at most `limit`.
  std::vector<DeniedKey> top(std::size_t limit) const;

 private:
  struct alignas(64) Stripe {
    // The counter with fewest denials, when all are in use. Under mutex.
    std::size_t find_least() noexcept;

    mutable std::mutex mutex;
    // Guarded by mutex; the first `used` of each array are in use. Apart, since a look-up reads
    // only the hashes.
    std::size_t used = 0;
    // No counter is below `least`; looked for from `next` on, so that room is found in a few steps.
    std::uint64_t least = 1;
    std::size_t next = 0;
    std::array<std::uint64_t, kCountersPerStripe> hashes{};
    std::array<std::uint64_t, kCountersPerStripe> counts{};
    std::array<std::uint64_t, kCountersPerStripe> errors{};
    std::array<std::string, kCountersPerStripe> keys;
  };

  std::array<Stripe, kStripes> stripes_;  // a key belongs to the stripe of its hash
};

// `throttlex_tokens_remaining{policy=…}`: what the last decision under a policy left. A series per
// policy, never per key, for the first policies that decide anything.
class TokensRemaining {
 public:
  static constexpr std::size_t kSeriesMax = 100;

  // `metrics` must outlive this.
  explicit TokensRemaining(runtime::Metrics& metrics) : metrics_(metrics) {}

  void set(const core::Policy& policy, std::int64_t remaining);

 private:
  struct Slot {
    std::atomic<std::int64_t> taken{0};  // id of the policy + 1; set after `gauge`
    runtime::Gauge* gauge = nullptr;
  };

  runtime::Gauge* find(std::int64_t id) const noexcept;
  runtime::Gauge* make(const core::Policy& policy);

  runtime::Metrics& metrics_;
  // Open addressing; nothing is ever removed, so a reader needs no lock.
  std::array<Slot, 256> slots_;
  std::atomic<bool> full_{false};
  std::mutex mutex_;
  std::size_t series_ = 0;  // guarded by mutex_
};

// Recording is lock-free.
class ThrottleMetrics {
 public:
  ThrottleMetrics(runtime::Metrics& metrics, bool tokens_remaining);

  void count(bool allowed, bool shadow_denied) noexcept {
    (allowed ? allowed_ : blocked_).add();
    if (shadow_denied) shadow_denied_.add();
  }
  // What Redis clients were told, looks included; `allowed` and `blocked` are without those.
  struct ClientTotals {
    std::uint64_t allowed = 0;
    std::uint64_t limited = 0;
    std::uint64_t errors = 0;
  };
  void count_clients(const ClientTotals& told, std::uint64_t allowed,
                     std::uint64_t blocked) noexcept;
  ClientTotals client_totals() const noexcept;

  void remaining(const core::Policy& policy, std::int64_t tokens) {
    if (tokens_enabled_) tokens_.set(policy, tokens);
  }
  void took(double millis, std::uint64_t decisions = 1) noexcept {
    latency_.observe(millis, decisions);
  }
  void store_failed() noexcept { store_failures_.add(); }
  void policies_restored(std::size_t policies) noexcept { policies_restored_.add(policies); }
  void policies_missing(std::size_t policies) noexcept {
    policies_missing_.set(static_cast<double>(policies));
  }

  core::ThrottleTotals totals() const noexcept;

 private:
  runtime::Counter& allowed_;
  runtime::Counter& blocked_;
  runtime::Counter& shadow_denied_;
  runtime::Counter& store_failures_;
  enum class ClientOutcome : std::uint8_t { allowed, limited, error };
  OutcomeCounters<ClientOutcome, 3> clients_;
  runtime::Counter& policies_restored_;
  runtime::Gauge& policies_missing_;
  runtime::Histogram& latency_;
  const bool tokens_enabled_;
  TokensRemaining tokens_;
};

}  // namespace penstock::service
