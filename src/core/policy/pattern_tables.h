// Policy keys compiled for look-up: tries whose edges are runs of bytes, laid out flat. Plain data;
// immutable once compiled and then safe on any thread.
//
// A key is cut at its stars. What stands before the first star, or the whole of an exact key, grows
// in the trunk. What stands behind a star grows in two tries of that star: tails, which end their
// pattern and so are read from the end of the text, and middles, which another star follows and
// which may be anywhere in between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::core {

// How a trie is read: texts from their first byte on, tails from their last byte back.
enum class Direction : std::uint8_t { forward, backward };

inline constexpr std::uint32_t kNoPattern = ~std::uint32_t{0};

struct PatternTables {
  // Fields of `rank` are places in the list of keys, smaller is better. What a node says about `*`
  // it also says for the nodes above it, so a descent has to look at its last node only.
  struct Node {
    std::uint32_t run = 0;  // the bytes behind the one that leads here, in `text`
    std::uint32_t run_bytes = 0;
    std::uint32_t slots = 0;  // of the next byte: `span` of them in `slots`, from byte `low` on
    std::uint32_t first_child = 0;
    std::uint32_t exact_rank = kNoPattern;   // of the key that ends here, without any star
    std::uint32_t prefix_rank = kNoPattern;  // the best that ends with a star here or above
    std::uint32_t star = kNoPattern;  // the nearest here or above with more literals behind it
    std::uint16_t span = 0;
    std::uint8_t low = 0;
  };

  struct Branch {
    std::uint32_t root = kNoPattern;
    std::uint32_t best_rank = kNoPattern;  // nothing behind this branch is better
    std::uint32_t bytes_min = 0;           // fewer bytes match nothing behind this branch
  };

  struct Star {
    Branch tails;
    Branch middles;
    std::uint32_t depth = 0;           // bytes from the root of its trie
    std::uint32_t above = kNoPattern;  // the next star on the way to that root
  };

  // One that ends with a star, and the next at the same node or above.
  struct Prefix {
    std::uint32_t rank = kNoPattern;
    std::uint32_t above = kNoPattern;
  };

  std::vector<Node> nodes;          // 0 is the root of the trunk
  std::vector<Star> stars;          // those of the trunk first
  std::vector<std::uint8_t> slots;  // 0 = no child, else 1 + its place among the children
  std::string text;
  std::size_t trunk_stars = 0;
  // For when the best does not count any more; apart from the nodes, which every look-up reads.
  std::vector<Prefix> prefixes;
  std::vector<std::uint32_t> prefixes_of;  // of each node: the first that holds there
};

// `keys` best first: the place of a key is its rank. At least one; fewer than 2^32 bytes in all.
PatternTables compile_patterns(std::span<const std::string_view> keys);

}  // namespace penstock::core
