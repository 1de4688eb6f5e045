// All policies of one moment, compiled for look-up. Immutable; safe on any thread.
//
// A key is matched in one pass over its bytes: the patterns form one trie in which `*` is an edge
// that may be followed at any byte, and the walk keeps the set of places it can be in. So ten
// thousand patterns that share a beginning cost no more than one, and no pattern can make a look-up
// backtrack: the work is at most bytes of the key times places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/policy/policy.h"

namespace penstock::core {

class PolicySet {
 public:
  // `policies` have different keys; `fallback` holds where none of them does.
  PolicySet(std::vector<Policy> policies, Policy fallback);
  PolicySet(const PolicySet&) = delete;  // exact_ points into policies_
  PolicySet& operator=(const PolicySet&) = delete;

  // The policy of exactly that key; else the matching pattern with most literal characters, of
  // equals the lexicographically smaller; else the fallback. Valid while the set lives.
  const Policy& match(std::string_view key) const { return any_ ? match_any(key) : fallback_; }

  const Policy& fallback() const noexcept { return fallback_; }

  // A policy of this set by the number that number_of() says.
  const Policy& numbered(std::uint32_t number) const noexcept {
    return number == kNone ? fallback_ : policies_[number];
  }
  std::uint32_t number_of(const Policy& policy) const noexcept {
    return &policy == &fallback_ ? kNone : static_cast<std::uint32_t>(&policy - policies_.data());
  }
  std::size_t size() const noexcept { return policies_.size(); }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Node {
    std::uint32_t first_edge = 0;  // of the literal children in edges_, by byte
    std::uint32_t edge_count = 0;
    std::uint32_t star = kNone;    // the child behind a `*`
    std::uint32_t policy = kNone;  // of the pattern that ends here
  };
  struct Edge {
    unsigned char byte = 0;
    std::uint32_t node = 0;
  };
  class Builder;
  class Walk;

  const Policy& match_any(std::string_view key) const;
  std::uint32_t best_pattern(std::string_view key) const;
  std::uint32_t child(std::uint32_t node, unsigned char byte) const noexcept;

  bool any_;                      // policies
  std::vector<Policy> policies_;  // patterns best first, then the exact ones
  Policy fallback_;
  std::unordered_map<std::string_view, std::uint32_t> exact_;
  std::vector<Node> nodes_;  // 0 is the root; empty without patterns
  std::vector<Edge> edges_;
};

// Whether a policy key is a pattern.
constexpr bool is_pattern(std::string_view key) noexcept { return key.find('*') != key.npos; }

// Characters of a pattern that stand for themselves.
std::size_t literal_characters(std::string_view pattern) noexcept;

}  // namespace penstock::core
