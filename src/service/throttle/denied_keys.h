// Which keys were denied most, in bounded memory: a space-saving sketch. Every key that was denied
// more often than a stripe's denials / its counters is in it; a count is never below the truth and
// at most `error` above it. Safe on any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::service {

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

}  // namespace penstock::service
