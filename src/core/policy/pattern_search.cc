#include "core/policy/pattern_search.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "base/same_bytes.h"

namespace penstock::core {
namespace {

using Branch = PatternTables::Branch;
using Node = PatternTables::Node;
using Star = PatternTables::Star;

// Which ranks count: all of them, or those that were not removed.
struct AllCount {
  static bool counts(std::uint32_t /*rank*/) noexcept { return true; }
  static std::uint32_t prefix_rank(const PatternTables& /*tables*/, const Node& node) noexcept {
    return node.prefix_rank;
  }
};

struct SomeCount {
  const RankBits& removed;

  bool counts(std::uint32_t rank) const noexcept {
    return rank != kNoPattern && (removed[rank / 64] >> (rank % 64) & 1) == 0;
  }
  std::uint32_t prefix_rank(const PatternTables& tables, const Node& node) const noexcept {
    if (node.prefix_rank == kNoPattern || counts(node.prefix_rank)) return node.prefix_rank;
    std::uint32_t best = kNoPattern;
    std::uint32_t at = tables.prefixes_of[static_cast<std::size_t>(&node - tables.nodes.data())];
    for (; at != kNoPattern; at = tables.prefixes[at].above) {
      if (counts(tables.prefixes[at].rank)) best = std::min(best, tables.prefixes[at].rank);
    }
    return best;
  }
};

struct Descent {
  const Node* node;  // the last whose bytes are all there
  bool whole;        // and they are all of the text
};

constexpr Node kNowhere;

// As far as `text` leads, from its first byte on or from its last byte back.
template <Direction kDirection>
[[gnu::always_inline]] inline Descent descend(const PatternTables& tables, std::uint32_t root,
                                              std::string_view text) noexcept {
  constexpr bool kForward = kDirection == Direction::forward;
  const Node* const nodes = tables.nodes.data();
  const std::uint8_t* const slots = tables.slots.data();
  const char* const runs = tables.text.data();
  const char* at = kForward ? text.data() : text.data() + text.size();
  std::size_t left = text.size();
  const Node* reached = &kNowhere;
  const Node* node = nodes + root;
  for (;;) {
    // Asked first: where there is no run, the place in the text does not wait for this node.
    if (const std::size_t run = node->run_bytes; run > 0) {
      if (left < run || !same_bytes(kForward ? at : at - run, runs + node->run, run)) break;
      at = kForward ? at + run : at - run;
      left -= run;
    }
    reached = node;
    if (left == 0) return {reached, true};
    const auto byte = static_cast<unsigned char>(kForward ? *at : at[-1]);
    const std::uint32_t place = std::uint32_t{byte} - node->low;  // below `low` wraps to beyond
    if (place >= node->span) break;
    const std::uint32_t slot = slots[node->slots + place];
    if (slot == 0) break;
    node = nodes + (node->first_child + slot - 1);
    at = kForward ? at + 1 : at - 1;
    --left;
  }
  return {reached, false};
}

// Stars behind middles that are still to be searched; each is taken once. Without allocation while
// they are few, which with hand-written patterns they are.
class OpenStars {
 public:
  struct Open {
    std::uint32_t star;
    std::size_t from;  // the byte of the key behind it
  };

  explicit OpenStars(const PatternTables& tables) : first_(tables.trunk_stars) {
    const std::size_t words = (tables.stars.size() - first_ + 63) / 64;
    if (words > few_taken_.size()) many_taken_.resize(words);
    taken_ = many_taken_.empty() ? few_taken_.data() : many_taken_.data();
    std::fill_n(taken_, words, 0);
  }
  OpenStars(const OpenStars&) = delete;  // taken_ may point into it
  OpenStars& operator=(const OpenStars&) = delete;

  // False: it was taken before.
  bool take(std::uint32_t star, std::size_t from) {
    std::uint64_t& word = taken_[(star - first_) / 64];
    const std::uint64_t bit = std::uint64_t{1} << ((star - first_) % 64);
    if ((word & bit) != 0) return false;
    word |= bit;
    if (few_size_ < few_.size()) {
      few_[few_size_++] = {star, from};
    } else {
      many_.push_back({star, from});
    }
    return true;
  }

  bool empty() const noexcept { return few_size_ == 0; }

  Open next() {
    if (many_.empty()) return few_[--few_size_];
    const Open open = many_.back();
    many_.pop_back();
    return open;
  }

 private:
  std::size_t first_;                       // star that is not of the trunk
  std::uint64_t* taken_;                    // one bit each, in one of the two:
  std::array<std::uint64_t, 8> few_taken_;  // 512 stars
  std::vector<std::uint64_t> many_taken_;
  std::array<Open, 32> few_;
  std::size_t few_size_ = 0;
  std::vector<Open> many_;  // only while few_ is full
};

// What stars with more literals behind them add to what the trunk gave.
template <class Ranks>
class Search {
 public:
  Search(const PatternTables& tables, std::string_view key, Ranks ranks) noexcept
      : tables_(tables), key_(key), ranks_(ranks), open_(tables) {}

  std::uint32_t run(const Node& trunk) {
    best_ = ranks_.prefix_rank(tables_, trunk);
    for (std::uint32_t at = trunk.star; at != kNoPattern; at = tables_.stars[at].above) {
      visit(tables_.stars[at], tables_.stars[at].depth);
    }
    while (!open_.empty()) {
      const OpenStars::Open open = open_.next();
      visit(tables_.stars[open.star], open.from);
    }
    return best_;
  }

 private:
  void visit(const Star& star, std::size_t from) {
    if (star.tails.best_rank < best_) {
      accept(*descend<Direction::backward>(tables_, star.tails.root, key_.substr(from)).node);
    }
    const Branch& middles = star.middles;
    while (middles.best_rank < best_) {
      from = next_start(tables_.nodes[middles.root], from);
      if (from + middles.bytes_min > key_.size()) return;
      const Node& node =
          *descend<Direction::forward>(tables_, middles.root, key_.substr(from)).node;
      accept(node);
      open_stars(node, from);
      ++from;
    }
  }

  // The first byte from `from` on at which a descent gets beyond `root`; else the end of the key.
  // Most bytes of a key begin no middle, so this is where a search spends its time.
  std::size_t next_start(const Node& root, std::size_t from) const noexcept {
    if (root.run_bytes > 0) return std::min(key_.find(tables_.text[root.run], from), key_.size());
    const std::uint8_t* const slots = tables_.slots.data() + root.slots;
    for (; from < key_.size(); ++from) {
      const std::uint32_t place = static_cast<unsigned char>(key_[from]) - std::uint32_t{root.low};
      if (place < root.span && slots[place] != 0) break;
    }
    return from;
  }

  void accept(const Node& node) noexcept {
    best_ = std::min(best_, ranks_.prefix_rank(tables_, node));
  }

  // A star met again stands further on, where nothing is behind it that was not before. So do those
  // above it.
  void open_stars(const Node& node, std::size_t from) {
    std::uint32_t at = node.star;
    while (at != kNoPattern && open_.take(at, from + tables_.stars[at].depth)) {
      at = tables_.stars[at].above;
    }
  }

  const PatternTables& tables_;
  std::string_view key_;
  [[no_unique_address]] Ranks ranks_;
  std::uint32_t best_ = kNoPattern;
  OpenStars open_;
};

// Apart, so that who needs no search does not pay for its frame.
template <class Ranks>
[[gnu::noinline]] std::uint32_t search(const PatternTables& tables, std::string_view key,
                                       const Node& trunk, Ranks ranks) {
  return Search<Ranks>(tables, key, ranks).run(trunk);
}

template <class Ranks>
[[gnu::always_inline]] inline std::uint32_t best_of(const PatternTables& tables,
                                                    std::string_view key, Ranks ranks) {
  const auto [node, whole] = descend<Direction::forward>(tables, 0, key);
  if (whole && node->exact_rank != kNoPattern && ranks.counts(node->exact_rank)) {
    return node->exact_rank;
  }
  if (node->star == kNoPattern) return ranks.prefix_rank(tables, *node);
  return search(tables, key, *node, ranks);
}

}  // namespace

std::uint32_t best_rank(const PatternTables& tables, std::string_view key) {
  return best_of(tables, key, AllCount{});
}

std::uint32_t best_rank(const PatternTables& tables, std::string_view key,
                        const RankBits& removed) {
  return best_of(tables, key, SomeCount{removed});
}

}  // namespace penstock::core
