#include "core/policy/policy_set.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/policy/pattern_search.h"

namespace penstock::core {

std::size_t literal_characters(std::string_view pattern) noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(pattern, [](char c) {
    const bool continues = (static_cast<unsigned char>(c) & 0xc0) == 0x80;
    return c != '*' && !continues;
  }));
}

PolicySet::PolicySet(std::vector<Policy> policies, Policy fallback)
    : policies_(std::move(policies)), fallback_(std::move(fallback)) {
  std::ranges::sort(policies_, {}, [](const Policy& policy) {
    const std::string_view key = policy.draft.key;
    const auto literals = static_cast<std::ptrdiff_t>(literal_characters(key));
    return std::tuple(is_pattern(key), -literals, key);
  });
  for (Policy& policy : policies_) policy.quick = RateReciprocals::of(policy.draft.limit.refill);
  fallback_.quick = RateReciprocals::of(fallback_.draft.limit.refill);
  std::vector<std::string_view> keys;
  keys.reserve(policies_.size());
  for (const Policy& policy : policies_) keys.push_back(policy.draft.key);
  if (!keys.empty()) tables_ = compile_patterns(keys);
}

const Policy& PolicySet::match_any(std::string_view key) const {
  const std::uint32_t rank = best_rank(tables_, key);
  return rank == kNoPattern ? fallback_ : policies_[rank];
}

}  // namespace penstock::core
