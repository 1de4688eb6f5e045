// All policies of one moment, compiled for look-up. Immutable; safe on any thread.
//
// A key is matched in one pass over its first bytes where patterns are `literals*`, and without
// backtracking where they have literals behind a `*` (see pattern_search.h): ten thousand patterns
// that share a beginning cost no more than one, and the work is at most bytes of the key times
// bytes of the patterns.
//
// A set with one policy changed shares almost everything with the set before: it consists of parts,
// each at least kGrowth times as large as the next, and a change compiles the small ones at the end
// anew. So n changes compile each policy kGrowth * log(n) times at most, and a look-up has a few
// parts to ask until somebody compiles the whole.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "core/policy/pattern_search.h"
#include "core/policy/pattern_tables.h"
#include "core/policy/policy.h"

namespace penstock::core {

class PolicySet {
 public:
  // `policies` have different keys; `fallback` holds where none of them does.
  PolicySet(std::vector<Policy> policies, Policy fallback);
  PolicySet(const PolicySet&) = delete;  // who holds a policy of it means this set
  PolicySet& operator=(const PolicySet&) = delete;

  // This set with `policy` in the place of the one of its key, if there is one; without a key.
  std::shared_ptr<const PolicySet> with(Policy policy) const;
  std::shared_ptr<const PolicySet> without(std::string_view key) const;

  // The policy of exactly that key; else the matching pattern with most literal characters, of
  // equals the lexicographically smaller; else the fallback. Valid while the set lives.
  const Policy& match(std::string_view key) const {
    return parts_.empty() ? fallback_ : match_any(key);
  }

  const Policy& fallback() const noexcept { return fallback_; }
  std::size_t size() const noexcept;
  // Whether look-ups are as fast as they can be: not so after changes.
  bool whole() const noexcept { return parts_.empty() || whole_ != nullptr; }

 private:
  // Policies that were compiled together. Immutable.
  struct Compiled {
    explicit Compiled(std::vector<Policy> unordered);

    std::vector<Policy> policies;  // best first: the exact ones, then patterns
    PatternTables tables;          // of policies, in their order
  };

  struct Part {
    std::shared_ptr<const Compiled> compiled;
    std::shared_ptr<const RankBits> removed;  // null = none
    std::size_t size = 0;                     // without the removed
  };

  PolicySet(std::vector<Part> parts, Policy fallback);

  static Part part_of(std::vector<Policy> policies);
  static void take_all(const Part& part, std::vector<Policy>& out);
  static void remove(std::vector<Part>& parts, std::string_view key);
  const Policy& match_any(std::string_view key) const;
  const Policy& match_parts(std::string_view key) const;

  std::vector<Part> parts_;          // the large ones first
  const Compiled* whole_ = nullptr;  // the only part, if nothing of it was removed
  Policy fallback_;
};

// Whether a policy key is a pattern.
constexpr bool is_pattern(std::string_view key) noexcept { return key.find('*') != key.npos; }

// Characters of a pattern that stand for themselves.
std::size_t literal_characters(std::string_view pattern) noexcept;

}  // namespace penstock::core
