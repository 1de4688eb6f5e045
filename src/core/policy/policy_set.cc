#include "core/policy/policy_set.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace penstock::core {
namespace {

// Larger: fewer parts for a look-up, more work for a change.
constexpr std::size_t kGrowth = 8;

// Policies in this order are best first.
auto place_of(std::string_view key) {
  return std::tuple(is_pattern(key), -static_cast<std::ptrdiff_t>(literal_characters(key)), key);
}

bool is_removed(const RankBits* removed, std::size_t rank) noexcept {
  return removed != nullptr && ((*removed)[rank / 64] >> (rank % 64) & 1) != 0;
}

}  // namespace

std::size_t literal_characters(std::string_view pattern) noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(pattern, [](char c) {
    const bool continues = (static_cast<unsigned char>(c) & 0xc0) == 0x80;
    return c != '*' && !continues;
  }));
}

PolicySet::Compiled::Compiled(std::vector<Policy> unordered) : policies(std::move(unordered)) {
  std::ranges::sort(policies, {}, [](const Policy& policy) { return place_of(policy.draft.key); });
  for (Policy& policy : policies) policy.quick = RateReciprocals::of(policy.draft.limit.refill);
  std::vector<std::string_view> keys;
  keys.reserve(policies.size());
  for (const Policy& policy : policies) keys.push_back(policy.draft.key);
  tables = compile_patterns(keys);
}

PolicySet::PolicySet(std::vector<Policy> policies, Policy fallback)
    : PolicySet(
          policies.empty() ? std::vector<Part>{} : std::vector<Part>{part_of(std::move(policies))},
          std::move(fallback)) {}

PolicySet::PolicySet(std::vector<Part> parts, Policy fallback)
    : parts_(std::move(parts)), fallback_(std::move(fallback)) {
  fallback_.quick = RateReciprocals::of(fallback_.draft.limit.refill);
  if (parts_.size() == 1 && parts_[0].removed == nullptr) whole_ = parts_[0].compiled.get();
}

PolicySet::Part PolicySet::part_of(std::vector<Policy> policies) {
  const std::size_t size = policies.size();
  return {.compiled = std::make_shared<const Compiled>(std::move(policies)), .size = size};
}

void PolicySet::take_all(const Part& part, std::vector<Policy>& out) {
  for (std::size_t rank = 0; rank < part.compiled->policies.size(); ++rank) {
    if (!is_removed(part.removed.get(), rank)) out.push_back(part.compiled->policies[rank]);
  }
}

void PolicySet::remove(std::vector<Part>& parts, std::string_view key) {
  const auto place = place_of(key);
  for (auto part = parts.begin(); part != parts.end(); ++part) {
    const std::vector<Policy>& policies = part->compiled->policies;
    const auto found = std::ranges::lower_bound(
        policies, place, {}, [](const Policy& policy) { return place_of(policy.draft.key); });
    if (found == policies.end() || found->draft.key != key) continue;
    const auto rank = static_cast<std::size_t>(found - policies.begin());
    if (is_removed(part->removed.get(), rank)) continue;  // it lives on in another part, if at all
    RankBits removed = part->removed ? *part->removed : RankBits((policies.size() + 63) / 64);
    removed[rank / 64] |= std::uint64_t{1} << (rank % 64);
    part->removed = std::make_shared<const RankBits>(std::move(removed));
    if (--part->size == 0) {
      parts.erase(part);
    } else if (part->size < policies.size() / 2) {
      std::vector<Policy> left;
      take_all(*part, left);
      *part = part_of(std::move(left));
    }
    return;
  }
}

std::shared_ptr<const PolicySet> PolicySet::with(Policy policy) const {
  std::vector<Part> parts = parts_;
  remove(parts, policy.draft.key);
  std::vector<Policy> fresh;
  fresh.push_back(std::move(policy));
  while (!parts.empty() && parts.back().size < kGrowth * fresh.size()) {
    take_all(parts.back(), fresh);
    parts.pop_back();
  }
  parts.push_back(part_of(std::move(fresh)));
  return std::shared_ptr<const PolicySet>(new PolicySet(std::move(parts), fallback_));
}

std::shared_ptr<const PolicySet> PolicySet::without(std::string_view key) const {
  std::vector<Part> parts = parts_;
  remove(parts, key);
  return std::shared_ptr<const PolicySet>(new PolicySet(std::move(parts), fallback_));
}

std::size_t PolicySet::size() const noexcept {
  std::size_t size = 0;
  for (const Part& part : parts_) size += part.size;
  return size;
}

const Policy& PolicySet::match_any(std::string_view key) const {
  if (whole_ == nullptr) [[unlikely]]
    return match_parts(key);
  const std::uint32_t rank = best_rank(whole_->tables, key);
  return rank == kNoPattern ? fallback_ : whole_->policies[rank];
}

const Policy& PolicySet::match_parts(std::string_view key) const {
  const Policy* best = nullptr;
  for (const Part& part : parts_) {
    const PatternTables& tables = part.compiled->tables;
    const std::uint32_t rank =
        part.removed ? best_rank(tables, key, *part.removed) : best_rank(tables, key);
    if (rank == kNoPattern) continue;
    const Policy& found = part.compiled->policies[rank];
    if (!is_pattern(found.draft.key)) return found;
    if (best == nullptr || place_of(found.draft.key) < place_of(best->draft.key)) best = &found;
  }
  return best == nullptr ? fallback_ : *best;
}

}  // namespace penstock::core
