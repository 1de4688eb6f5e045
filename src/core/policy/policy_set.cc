#include "core/policy/policy_set.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

namespace penstock::core {
namespace {

// Places of a walk: on the stack while they are few, which with hand-written patterns they are.
class PlaceList {
 public:
  void push(std::uint32_t place) {
    if (size_ < few_.size()) {
      few_[size_] = place;
    } else {
      many_.push_back(place);
    }
    ++size_;
  }
  void clear() noexcept {
    size_ = 0;
    many_.clear();
  }
  std::size_t size() const noexcept { return size_; }
  std::uint32_t operator[](std::size_t i) const noexcept {
    return i < few_.size() ? few_[i] : many_[i - few_.size()];
  }
  bool contains(std::uint32_t place) const noexcept {
    for (std::size_t i = 0; i < size_; ++i) {
      if ((*this)[i] == place) return true;
    }
    return false;
  }

 private:
  std::array<std::uint32_t, 32> few_;
  std::size_t size_ = 0;
  std::vector<std::uint32_t> many_;
};

}  // namespace

std::size_t literal_characters(std::string_view pattern) noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(pattern, [](char c) {
    const bool continues = (static_cast<unsigned char>(c) & 0xc0) == 0x80;
    return c != '*' && !continues;
  }));
}

// Grows the trie with maps, then lays it out flat.
class PolicySet::Builder {
 public:
  void add(std::string_view pattern, std::uint32_t policy) {
    std::size_t at = 0;
    for (const char c : pattern) {
      std::size_t& next =
          c == '*' ? star_of(at) : draft_[at].children[static_cast<unsigned char>(c)];
      if (next == 0) {
        next = draft_.size();
        const bool behind_star = c == '*';
        at = next;
        draft_.push_back({.is_star = behind_star});
      } else {
        at = next;
      }
    }
    draft_[at].policy = std::min(draft_[at].policy, policy);
  }

  void lay_out(std::vector<Node>& nodes, std::vector<Edge>& edges) const {
    nodes.reserve(draft_.size());
    edges.reserve(draft_.size());
    for (const Draft& draft : draft_) {
      Node& node = nodes.emplace_back();
      node.first_edge = static_cast<std::uint32_t>(edges.size());
      node.edge_count = static_cast<std::uint32_t>(draft.children.size());
      if (draft.star != 0 && !draft.is_star) node.star = static_cast<std::uint32_t>(draft.star);
      node.policy = draft.policy;
      for (const auto& [byte, child] : draft.children) {
        edges.push_back({byte, static_cast<std::uint32_t>(child)});
      }
    }
  }

 private:
  struct Draft {
    bool is_star = false;
    std::map<unsigned char, std::size_t> children;
    std::size_t star = 0;  // 0 = none: nothing leads to the root
    std::uint32_t policy = kNone;
  };

  // Two stars in a row are one.
  std::size_t& star_of(std::size_t at) {
    Draft& draft = draft_[at];
    if (draft.is_star) draft.star = at;
    return draft.star;
  }

  std::vector<Draft> draft_{Draft{}};
};

// The set of places one key leads to.
class PolicySet::Walk {
 public:
  explicit Walk(const PolicySet& set) : set_(set) { enter(0); }

  // False: no place is left.
  bool step(unsigned char byte) {
    const PlaceList& before = lists_[now_];
    now_ = 1 - now_;
    lists_[now_].clear();
    // Stars reached by this byte stand behind it, so only those known before it are followed.
    const std::size_t stars = stars_.size();
    for (std::size_t i = 0; i < before.size(); ++i) follow(before[i], byte);
    for (std::size_t i = 0; i < stars; ++i) follow(stars_[i], byte);
    return lists_[now_].size() + stars_.size() > 0;
  }

  std::uint32_t finish() {
    const PlaceList& here = lists_[now_];
    for (std::size_t i = 0; i < here.size(); ++i) accept(set_.nodes_[here[i]].policy);
    return best_;
  }

 private:
  void follow(std::uint32_t place, unsigned char byte) {
    if (const std::uint32_t next = set_.child(place, byte); next != kNone) enter(next);
  }

  void enter(std::uint32_t place) {
    lists_[now_].push(place);
    const std::uint32_t star = set_.nodes_[place].star;
    if (star == kNone) return;
    accept(set_.nodes_[star].policy);  // whatever follows, `*` takes it
    if (set_.nodes_[star].edge_count > 0 && !stars_.contains(star)) stars_.push(star);
  }

  void accept(std::uint32_t policy) noexcept { best_ = std::min(best_, policy); }

  const PolicySet& set_;
  std::uint32_t best_ = kNone;
  std::array<PlaceList, 2> lists_;  // literal places after the bytes so far, and those before
  std::size_t now_ = 0;             // which of the two
  PlaceList stars_;                 // places behind a `*`: once reached, never left
};

PolicySet::PolicySet(std::vector<Policy> policies, Policy fallback)
    : any_(!policies.empty()), policies_(std::move(policies)), fallback_(std::move(fallback)) {
  std::ranges::sort(policies_, {}, [](const Policy& policy) {
    const std::string_view key = policy.draft.key;
    const auto literals = static_cast<std::ptrdiff_t>(literal_characters(key));
    return std::tuple(!is_pattern(key), -literals, key);
  });
  for (Policy& policy : policies_) policy.quick = RateReciprocals::of(policy.draft.limit.refill);
  fallback_.quick = RateReciprocals::of(fallback_.draft.limit.refill);
  Builder builder;
  bool any_pattern = false;
  for (std::uint32_t i = 0; i < policies_.size(); ++i) {
    const std::string_view key = policies_[i].draft.key;
    if (is_pattern(key)) {
      builder.add(key, i);
      any_pattern = true;
    } else {
      exact_.emplace(key, i);
    }
  }
  if (any_pattern) builder.lay_out(nodes_, edges_);
}

const Policy& PolicySet::match_any(std::string_view key) const {
  if (!exact_.empty()) {
    if (const auto found = exact_.find(key); found != exact_.end()) return policies_[found->second];
  }
  const std::uint32_t pattern = best_pattern(key);
  return pattern == kNone ? fallback_ : policies_[pattern];
}

std::uint32_t PolicySet::best_pattern(std::string_view key) const {
  if (nodes_.empty()) return kNone;
  Walk walk(*this);
  for (const char c : key) {
    if (!walk.step(static_cast<unsigned char>(c))) break;
  }
  return walk.finish();
}

std::uint32_t PolicySet::child(std::uint32_t node, unsigned char byte) const noexcept {
  const auto first = edges_.begin() + nodes_[node].first_edge;
  const auto last = first + nodes_[node].edge_count;
  const auto found = std::ranges::lower_bound(first, last, byte, {}, &Edge::byte);
  return found != last && found->byte == byte ? found->node : kNone;
}

}  // namespace penstock::core
