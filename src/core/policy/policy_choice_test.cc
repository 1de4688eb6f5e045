// Every choice of a PolicySet against the plain definition, over all kinds of patterns.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "core/policy/policy_set.h"

namespace penstock::core {
namespace {

using Strings = std::vector<std::string>;

// The plain definition of a pattern: by dynamic programming over all places of both texts.
bool reference_matches(std::string_view pattern, std::string_view text) {
  std::vector<char> row(text.size() + 1, 0);  // whether the pattern so far takes that many bytes
  row[0] = 1;
  for (const char c : pattern) {
    const auto least = std::ranges::find(row, 1);
    if (least == row.end()) return false;
    if (c == '*') {
      std::fill(least, row.end(), 1);
    } else {
      for (std::size_t i = text.size(); i > 0; --i) row[i] = row[i - 1] & (text[i - 1] == c);
      row[0] = 0;
    }
  }
  return row.back() != 0;
}

std::string reference_choice(const Strings& keys, std::string_view text) {
  if (!is_pattern(text) && std::ranges::find(keys, text) != keys.end()) return std::string(text);
  std::string best;
  for (const std::string& key : keys) {
    if (!is_pattern(key) || !reference_matches(key, text)) continue;
    const auto literals = literal_characters(key);
    const auto most = literal_characters(best);
    if (best.empty() || literals > most || (literals == most && key < best)) best = key;
  }
  return best.empty() ? "default" : best;
}

PolicySet compiled_at_once(const Strings& keys) {
  std::vector<Policy> policies;
  for (const std::string& key : keys) policies.push_back({.draft = {.key = key}});
  return PolicySet(std::move(policies), {.draft = {.key = "default"}});
}

// The same by changes in any order: some keys are there from the start, others come, some of them
// twice; and keys that are much like them come and go.
std::shared_ptr<const PolicySet> made_by_changes(const Strings& keys, Rng& rng) {
  struct Change {
    std::size_t at = 0;
    std::string key;
    bool comes = true;
    std::int64_t version = 1;
  };
  std::vector<Policy> first;
  std::vector<Change> changes;
  const auto add = [&](const std::string& key, bool stays) {
    const bool at_first = rng.below(3) == 0;
    const std::size_t at = rng.below(1'000);
    if (at_first) first.push_back({.version = 1, .draft = {.key = key}});
    if (!at_first) changes.push_back({.at = at, .key = key});
    if (!stays) changes.push_back({.at = at + 1 + rng.below(1'000), .key = key, .comes = false});
    if (stays && rng.below(4) == 0) changes.push_back({.at = at + 1, .key = key, .version = 2});
  };
  Strings others;
  for (const std::string& key : keys) {
    const std::size_t at = rng.below(key.size() + 1);
    for (const std::string& other : {key + "*", "*" + key, key.substr(0, at) + "*",
                                     "*" + key.substr(at), key.substr(0, at) + "**"}) {
      if (rng.below(6) == 0 && !std::ranges::binary_search(keys, other)) others.push_back(other);
    }
  }
  std::ranges::sort(others);
  others.erase(std::ranges::unique(others).begin(), others.end());
  for (const std::string& key : keys) add(key, true);
  for (const std::string& key : others) add(key, false);
  std::ranges::sort(changes, {}, &Change::at);
  auto set =
      std::make_shared<const PolicySet>(std::move(first), Policy{.draft = {.key = "default"}});
  std::size_t size = set->size();
  for (const Change& change : changes) {
    if (change.comes) {
      set = set->with({.version = change.version, .draft = {.key = change.key}});
      if (change.version == 1) ++size;
    } else {
      set = set->without(change.key);
      --size;
    }
    EXPECT_EQ(set->size(), size);
  }
  return set;
}

// Holds all `texts` against the definition. `keys` may repeat.
void expect_choices(Strings keys, const Strings& texts) {
  std::ranges::sort(keys);
  keys.erase(std::ranges::unique(keys).begin(), keys.end());
  Rng rng(keys.size());
  const PolicySet at_once = compiled_at_once(keys);
  const auto by_changes = made_by_changes(keys, rng);
  for (const std::string& text : texts) {
    const std::string choice = reference_choice(keys, text);
    ASSERT_EQ(at_once.match(text).draft.key, choice)
        << text << " among " << testing::PrintToString(keys);
    ASSERT_EQ(by_changes->match(text).draft.key, choice)
        << text << " after changes among " << testing::PrintToString(keys);
  }
}

// Draws keys, and texts that have a chance to match them.
class Source {
 public:
  Source(std::uint64_t seed, std::string alphabet) : rng_(seed), alphabet_(std::move(alphabet)) {}

  std::string word(std::size_t max) {
    std::string out;
    for (std::size_t n = rng_.below(max + 1); n > 0; --n) {
      out += alphabet_[rng_.below(alphabet_.size())];
    }
    return out;
  }

  // A piece of `whole`, so that pieces share long runs; sometimes with a word behind it.
  std::string piece(std::string_view whole) {
    const std::size_t from = rng_.below(3) == 0 ? rng_.below(whole.size()) : 0;
    std::string out(whole.substr(from, rng_.below(whole.size() - from + 1)));
    return rng_.below(2) == 0 ? out : out + word(3);
  }

  // Exact with no star.
  std::string pattern(std::string_view whole, std::size_t stars_max) {
    std::string out = rng_.below(4) == 0 ? "" : piece(whole);
    for (std::size_t n = rng_.below(stars_max + 1); n > 0; --n) {
      out += '*';
      if (rng_.below(3) > 0) out += rng_.below(2) == 0 ? word(3) : piece(whole);
    }
    return out;
  }

  // One of `keys` with words for stars, and sometimes one byte changed, lost or added.
  std::string text(const Strings& keys) {
    std::string out;
    for (const char c : keys[rng_.below(keys.size())]) out += c == '*' ? word(6) : std::string{c};
    const std::size_t at = rng_.below(out.size() + 1);
    switch (rng_.below(5)) {
      case 0:
        return out.substr(0, at);
      case 1:
        return out.substr(at);
      case 2:
        return out.substr(0, at) + word(1) + out.substr(at);
      case 3:
        if (at < out.size()) out[at] = alphabet_[rng_.below(alphabet_.size())];
        return out;
      default:
        return out;
    }
  }

  std::size_t below(std::size_t bound) { return rng_.below(bound); }

 private:
  Rng rng_;
  std::string alphabet_;
};

TEST(PolicyChoice, is_that_of_the_definition_for_short_keys) {
  Source patterns(7, "ab*");
  Source texts(8, "ab");
  for (int round = 0; round < 1'000; ++round) {
    Strings keys;
    for (std::size_t n = patterns.below(30); n > 0; --n) keys.push_back("*" + patterns.word(7));
    for (std::size_t n = patterns.below(30); n > 0; --n) keys.push_back("a" + patterns.word(7));
    Strings asked;
    for (int i = 0; i < 30; ++i) asked.push_back(texts.word(10));
    ASSERT_NO_FATAL_FAILURE(expect_choices(keys, asked));
  }
}

// Two letters, so that runs split and meet again; bytes of all ranges, alone and as UTF-8.
TEST(PolicyChoice, is_that_of_the_definition_for_keys_with_long_runs) {
  for (const std::string alphabet : {"ab", "a|:0", "\xc3\xbc\x80\xff\x01z", "\xc3\xbc\xc3\xa9"}) {
    Source source(alphabet.size(), alphabet);
    for (int round = 0; round < 700; ++round) {
      const std::string whole = "x" + source.word(40);
      Strings keys;
      for (std::size_t n = source.below(25) + 1; n > 0; --n) {
        keys.push_back(source.pattern(whole, 1 + source.below(4)));
      }
      Strings asked;
      for (int i = 0; i < 30; ++i) asked.push_back(source.text(keys));
      ASSERT_NO_FATAL_FAILURE(expect_choices(keys, asked));
    }
  }
}

// A run that divides at every byte, of a prefix, a suffix and a piece between; and an exact key
// that ends there.
TEST(PolicyChoice, is_that_of_the_definition_wherever_a_run_divides) {
  const std::string run = "tenant:4711|\xc3\xbcser:abcdefg";  // longer than two words
  Strings asked = {"", run + run, "x" + run, run + "x", "x" + run + "x"};
  for (std::size_t i = 0; i < run.size(); ++i) {
    std::string changed = run;
    changed[i] = 'X';
    asked.insert(asked.end(), {run.substr(0, i), run.substr(i), run.substr(0, i) + "X", changed,
                               changed + "x", "x" + changed, "X" + run.substr(i)});
  }
  for (std::size_t i = 0; i <= run.size(); ++i) {
    const std::string head = run.substr(0, i);
    const std::string tail = run.substr(i);
    ASSERT_NO_FATAL_FAILURE(expect_choices({run + "*", head + "X*", head}, asked));
    ASSERT_NO_FATAL_FAILURE(expect_choices({run + "*", head + "*", head}, asked));
    ASSERT_NO_FATAL_FAILURE(expect_choices({run, head + "X", head + "*"}, asked));
    ASSERT_NO_FATAL_FAILURE(expect_choices({"*" + run, "*X" + tail, "*" + tail}, asked));
    ASSERT_NO_FATAL_FAILURE(expect_choices({"*" + run + "*", "*" + head + "X*", "t*X*"}, asked));
    ASSERT_NO_FATAL_FAILURE(expect_choices({head + "*" + tail, head + "*", "*" + tail}, asked));
    ASSERT_NO_FATAL_FAILURE(expect_choices({head + "*" + tail + "*x", "*" + tail + "*"}, asked));
  }
}

// All other bytes may follow one another: a node has as many children as can be.
TEST(PolicyChoice, tells_all_bytes_apart) {
  Strings keys;
  Strings asked;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string c(1, static_cast<char>(byte));
    asked.insert(asked.end(), {c, "a" + c, c + "a", "a" + c + "a"});
    if (c != "*") keys.insert(keys.end(), {"a" + c + "*", "*" + c + "a", "*" + c + "*z", c});
  }
  expect_choices(keys, asked);
}

TEST(PolicyChoice, is_that_of_the_definition_among_ten_thousand_patterns) {
  Source source(11, "abc:|");
  Strings keys;
  while (keys.size() < 10'000)
    keys.push_back(source.pattern("tenant:4711|user:", 3) + source.word(8));
  Strings asked;
  for (int i = 0; i < 150; ++i) asked.push_back(source.text(keys));
  expect_choices(keys, asked);
}

// Stars behind stars, more of them open at once than fit a short list.
TEST(PolicyChoice, is_that_of_the_definition_with_many_stars_open) {
  Source source(12, "ab");
  Strings keys;
  for (int i = 0; i < 3'000; ++i) {
    keys.push_back("*" + source.word(4) + "a*" + source.word(4) + "b*" + source.word(5) + "*c" +
                   source.word(2));
  }
  Strings asked;
  for (int i = 0; i < 60; ++i) asked.push_back(source.text(keys));
  expect_choices(keys, asked);
}

}  // namespace
}  // namespace penstock::core
