// All policies of one moment, compiled for look-up. Immutable; safe on any thread.
//
// A key is matched in one pass over its first bytes where patterns are `literals*`, and without
// backtracking where they have literals behind a `*` (see pattern_search.h): ten thousand patterns
// that share a beginning cost no more than one, and the work is at most bytes of the key times
// bytes of the patterns.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/policy/pattern_tables.h"
#include "core/policy/policy.h"

namespace penstock::core {

class PolicySet {
 public:
  // `policies` have different keys; `fallback` holds where none of them does.
  PolicySet(std::vector<Policy> policies, Policy fallback);
  PolicySet(const PolicySet&) = delete;  // who holds a policy of it means this set
  PolicySet& operator=(const PolicySet&) = delete;

  // The policy of exactly that key; else the matching pattern with most literal characters, of
  // equals the lexicographically smaller; else the fallback. Valid while the set lives.
  const Policy& match(std::string_view key) const {
    return policies_.empty() ? fallback_ : match_any(key);
  }

  const Policy& fallback() const noexcept { return fallback_; }
  std::size_t size() const noexcept { return policies_.size(); }

 private:
  const Policy& match_any(std::string_view key) const;

  std::vector<Policy> policies_;  // best first: the exact ones, then patterns
  Policy fallback_;
  PatternTables tables_;  // of policies_, in their order
};

// Whether a policy key is a pattern.
constexpr bool is_pattern(std::string_view key) noexcept { return key.find('*') != key.npos; }

// Characters of a pattern that stand for themselves.
std::size_t literal_characters(std::string_view pattern) noexcept;

}  // namespace penstock::core
