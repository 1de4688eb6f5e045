#include "core/policy/pattern_tables.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"

namespace penstock::core {
namespace {

using Branch = PatternTables::Branch;
using Node = PatternTables::Node;

// What stands behind a star of a pattern; does not begin with a star and is not empty.
struct Rest {
  std::string_view text;
  std::uint32_t rank = kNoPattern;
};

// One text of a trie, and what the node at its end says.
struct Entry {
  std::string text;
  std::uint32_t exact_rank = kNoPattern;
  std::uint32_t prefix_rank = kNoPattern;
  std::uint32_t star = kNoPattern;
};

std::uint32_t narrow(std::size_t value) {
  PENSTOCK_CHECK(value < kNoPattern);
  return static_cast<std::uint32_t>(value);
}

// Two stars in a row are one.
std::string_view without_stars_ahead(std::string_view text) noexcept {
  return text.substr(std::min(text.find_first_not_of('*'), text.size()));
}

std::size_t literal_bytes(std::string_view text) noexcept {
  return text.size() - static_cast<std::size_t>(std::ranges::count(text, '*'));
}

// Grows one trie out of sorted texts, level by level, so that children lie side by side.
class TrieGrower {
 public:
  TrieGrower(PatternTables& tables, std::vector<Entry> entries, Direction direction)
      : tables_(tables), entries_(std::move(entries)), direction_(direction) {
    std::ranges::sort(entries_, {}, &Entry::text);
  }

  std::uint32_t grow() {
    const std::uint32_t root = narrow(tables_.nodes.size());
    tables_.nodes.emplace_back();
    tables_.prefixes_of.push_back(kNoPattern);
    todo_.push_back({.node = root, .first = 0, .last = entries_.size(), .depth = 0});
    for (std::size_t i = 0; i < todo_.size(); ++i) grow_node(todo_[i]);
    return root;
  }

 private:
  // The entries [first, last) share `depth` bytes and stand at or below the node.
  struct Job {
    std::size_t node = 0;
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t depth = 0;
  };

  void grow_node(Job job) {
    Node node = tables_.nodes[job.node];
    // Sorted, so what the outermost two share, all share.
    const std::string& least = entries_[job.first].text;
    const std::string& most = entries_[job.last - 1].text;
    const std::size_t shared =
        static_cast<std::size_t>(std::ranges::mismatch(least, most).in1 - least.begin());
    add_run(node, std::string_view(least).substr(job.depth, shared - job.depth));
    job.depth = shared;
    while (job.first < job.last && entries_[job.first].text.size() == shared) {
      end_entry(node, tables_.prefixes_of[job.node], entries_[job.first++]);
    }
    if (job.first < job.last) add_children(node, tables_.prefixes_of[job.node], job);
    tables_.nodes[job.node] = node;
  }

  // As it lies in a key, whichever way it is read.
  void add_run(Node& node, std::string_view run) {
    node.run = narrow(tables_.text.size());
    node.run_bytes = narrow(run.size());
    if (direction_ == Direction::forward) {
      tables_.text.append(run.begin(), run.end());
    } else {
      tables_.text.append(run.rbegin(), run.rend());
    }
  }

  void end_entry(Node& node, std::uint32_t& prefixes, const Entry& entry) {
    node.exact_rank = std::min(node.exact_rank, entry.exact_rank);
    node.prefix_rank = std::min(node.prefix_rank, entry.prefix_rank);
    if (entry.prefix_rank != kNoPattern) {
      tables_.prefixes.push_back({.rank = entry.prefix_rank, .above = prefixes});
      prefixes = narrow(tables_.prefixes.size() - 1);
    }
    if (entry.star == kNoPattern) return;
    tables_.stars[entry.star].depth = narrow(entry.text.size());
    tables_.stars[entry.star].above = node.star;
    node.star = entry.star;
  }

  void add_children(Node& node, std::uint32_t prefixes, const Job& job) {
    const auto next_byte = [&](std::size_t entry) {
      return static_cast<std::uint8_t>(entries_[entry].text[job.depth]);
    };
    node.low = next_byte(job.first);
    node.span = static_cast<std::uint16_t>(next_byte(job.last - 1) - node.low + 1);
    node.slots = narrow(tables_.slots.size());
    tables_.slots.resize(tables_.slots.size() + node.span);
    node.first_child = narrow(tables_.nodes.size());
    std::uint8_t slot = 0;  // no literal is a star, so there are 255 children at most
    for (std::size_t first = job.first; first < job.last;) {
      std::size_t last = first + 1;
      while (last < job.last && next_byte(last) == next_byte(first)) ++last;
      tables_.slots[node.slots + (next_byte(first) - node.low)] = ++slot;
      todo_.push_back({tables_.nodes.size(), first, last, job.depth + 1});
      tables_.nodes.push_back({.prefix_rank = node.prefix_rank, .star = node.star});
      tables_.prefixes_of.push_back(prefixes);
      first = last;
    }
  }

  PatternTables& tables_;
  std::vector<Entry> entries_;
  Direction direction_;
  std::vector<Job> todo_;
};

class Compiler {
 public:
  PatternTables compile(std::span<const std::string_view> keys) {
    grow_trunk(keys);
    // Not by recursion: a pattern may have as many stars as bytes.
    for (std::size_t star = 0; star < behind_.size(); ++star) {
      grow_star(star, std::exchange(behind_[star], {}));
    }
    return std::move(tables_);
  }

 private:
  using Heads = std::map<std::string_view, std::vector<Rest>>;  // what stands before a star

  void grow_trunk(std::span<const std::string_view> keys) {
    std::vector<Entry> entries;
    Heads heads;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::size_t star = keys[i].find('*');
      if (star == keys[i].npos) {
        entries.push_back({.text = std::string(keys[i]), .exact_rank = narrow(i)});
      } else {
        heads[keys[i].substr(0, star)].push_back({keys[i].substr(star), narrow(i)});
      }
    }
    add_heads(heads, entries);
    TrieGrower(tables_, std::move(entries), Direction::forward).grow();
    tables_.trunk_stars = tables_.stars.size();
  }

  void grow_star(std::size_t star, const std::vector<Rest>& rests) {
    Branch tails;
    Branch middles;
    std::vector<Entry> ends;
    Heads heads;
    for (const Rest& rest : rests) {
      const std::size_t next = rest.text.find('*');
      widen(next == rest.text.npos ? tails : middles, rest);
      if (next == rest.text.npos) {
        ends.push_back({.text = {rest.text.rbegin(), rest.text.rend()}, .prefix_rank = rest.rank});
      } else {
        heads[rest.text.substr(0, next)].push_back({rest.text.substr(next), rest.rank});
      }
    }
    if (!ends.empty()) {
      tails.root = TrieGrower(tables_, std::move(ends), Direction::backward).grow();
    }
    if (!heads.empty()) {
      std::vector<Entry> entries;
      add_heads(heads, entries);
      middles.root = TrieGrower(tables_, std::move(entries), Direction::forward).grow();
    }
    tables_.stars[star].tails = tails;
    tables_.stars[star].middles = middles;
  }

  static void widen(Branch& branch, const Rest& rest) {
    const std::uint32_t bytes = narrow(literal_bytes(rest.text));
    branch.bytes_min = branch.best_rank == kNoPattern ? bytes : std::min(branch.bytes_min, bytes);
    branch.best_rank = std::min(branch.best_rank, rest.rank);
  }

  // The rests in `heads` begin with their star.
  void add_heads(const Heads& heads, std::vector<Entry>& entries) {
    for (const auto& [head, rests] : heads) {
      Entry entry{.text = std::string(head)};  // with the star; one without it for each that ends
      std::vector<Rest> behind;
      for (const Rest& rest : rests) {
        const std::string_view text = without_stars_ahead(rest.text);
        if (text.empty()) {
          entries.push_back({.text = entry.text, .prefix_rank = rest.rank});
        } else {
          behind.push_back({text, rest.rank});
        }
      }
      if (behind.empty()) continue;
      entry.star = narrow(tables_.stars.size());
      tables_.stars.emplace_back();
      behind_.push_back(std::move(behind));
      entries.push_back(std::move(entry));
    }
  }

  PatternTables tables_;
  std::vector<std::vector<Rest>> behind_;  // of every star; those not yet grown
};

}  // namespace

PatternTables compile_patterns(std::span<const std::string_view> keys) {
  PENSTOCK_CHECK(!keys.empty());
  return Compiler().compile(keys);
}

}  // namespace penstock::core
