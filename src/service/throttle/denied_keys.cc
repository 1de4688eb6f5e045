#include "service/throttle/denied_keys.h"

#include <algorithm>
#include <functional>

namespace penstock::service {

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

}  // namespace penstock::service
