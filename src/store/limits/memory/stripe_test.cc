// The table's parts: hash, arena and index.
#include "store/limits/memory/stripe.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/rng.h"
#include "core/limits/decide.h"
#include "store/limits/memory/key_hash.h"

namespace penstock::store::memory {
namespace {

std::string key_of(std::uint64_t number) {
  std::string key = "key" + std::to_string(number);
  key.resize(key.size() + number % 60, 'a');
  return key;
}

core::LimitState marked(std::int64_t mark) {
  core::LimitState state;
  state.last = mark;
  return state;
}

// Few different hashes, so that runs collide, wrap around and are shortened.
std::uint32_t bad_hash(std::string_view key, std::uint32_t hashes) {
  const std::uint64_t hash = KeyHash(1)(key) % hashes;
  return static_cast<std::uint32_t>(hash * (UINT32_MAX / hashes + 1ULL));
}

TEST(Stripe, agrees_with_a_map_over_random_histories) {
  for (const std::uint32_t hashes : {3U, 50U, 1'000'000U}) {
    Rng rng(hashes);
    ChunkPool pool;
    Stripe stripe;
    stripe.use(pool);
    std::map<std::string, std::int64_t> model;
    for (std::int64_t step = 1; step < 30'000; ++step) {
      const std::uint64_t range = step / 10'000 == 1 ? 60 : 600;
      const std::string key = key_of(rng.below(range));
      const std::uint32_t hash = bad_hash(key, hashes);
      Entry* const entry = stripe.find(hash, key);
      ASSERT_EQ(entry != nullptr, model.contains(key));
      if (entry != nullptr) {
        ASSERT_EQ(entry->key(), key);
        ASSERT_EQ(entry->state.last, model[key]);
        if (rng.below(2) == 0) {
          ASSERT_TRUE(stripe.erase(hash, key));
          ASSERT_FALSE(stripe.erase(hash, key));
          model.erase(key);
        }
      } else {
        Entry& made = stripe.insert(hash, key, marked(step));
        ASSERT_EQ(made.key(), key);
        model[key] = step;
      }
      ASSERT_EQ(stripe.size(), model.size());
    }
    std::map<std::string, std::int64_t> contents;
    stripe.each([&](const Entry& entry) { contents[std::string(entry.key())] = entry.state.last; });
    EXPECT_EQ(contents, model);
  }
}

TEST(Stripe, finds_by_its_place_what_is_still_there_and_nothing_else) {
  Rng rng(5);
  ChunkPool pool;
  Stripe stripe;
  stripe.use(pool);
  std::map<std::string, Stripe::Place> places;  // of all keys that ever were
  std::size_t found = 0;
  for (std::int64_t step = 1; step < 30'000; ++step) {
    const std::string key = key_of(rng.below(400));
    const std::uint32_t hash = bad_hash(key, 1'000'000);
    Entry* const entry = stripe.find(hash, key);
    const Stripe::Place place = places[key];
    if (Entry* const at = stripe.find_at(place, pool); at != nullptr) {
      ASSERT_EQ(at, entry);
      ++found;
    }
    if (entry == nullptr) {
      ASSERT_EQ(stripe.place_of(hash, key), 0U);
      stripe.insert(hash, key, marked(step));
    } else if (rng.below(50) == 0) {
      stripe.erase(hash, key);
      ASSERT_EQ(stripe.find_at(place, pool), nullptr);
    }
    places[key] = stripe.place_of(hash, key);
  }
  EXPECT_GT(found, 1'000U) << "places are of use";
}

TEST(Stripe, walks_over_every_entry_in_turn) {
  ChunkPool pool;
  Stripe stripe;
  stripe.use(pool);
  const KeyHash hash(1);
  for (std::uint64_t i = 0; i < 500; ++i) {
    const std::string key = key_of(i);
    stripe.insert(static_cast<std::uint32_t>(hash(key)), key, marked(1));
  }
  std::set<std::string> seen;
  for (int i = 0; i < 501; ++i) {
    stripe.walk(1, [&](Entry& entry, bool&) {
      seen.emplace(entry.key());
      return false;
    });
  }
  EXPECT_EQ(seen.size(), 500U);
  std::size_t erased = 0;
  for (int i = 0; i < 300; ++i) erased += stripe.walk(2, [](Entry&, bool&) { return true; });
  EXPECT_EQ(erased, 500U);
  EXPECT_EQ(stripe.size(), 0U);
}

// Keys of one size go and keys of another come: freed places of the wrong size must not pile up.
TEST(Stripe, takes_at_most_about_twice_what_it_holds) {
  ChunkPool pool;
  Stripe stripe;
  stripe.use(pool);
  const KeyHash hash(1);
  for (std::size_t bytes = 8; bytes <= 512; bytes += 8) {
    std::vector<std::string> keys;
    for (int i = 0; i < 1'000; ++i) {
      std::string key = std::to_string(i);
      key.resize(bytes, 'x');
      stripe.insert(static_cast<std::uint32_t>(hash(key)), key, {});
      keys.push_back(std::move(key));
    }
    EXPECT_LE(stripe.bytes(), 2 * 1'000 * (64 + bytes + 20) + 40'000) << bytes;
    for (const std::string& key : keys) {
      ASSERT_TRUE(stripe.erase(static_cast<std::uint32_t>(hash(key)), key));
    }
  }
  EXPECT_LE(stripe.bytes(), 40'000U);
}

TEST(Stripe, counts_the_bytes_of_logs_that_go) {
  const core::Limit limit{.type = core::LimitType::sliding_window, .capacity = 100};
  ChunkPool pool;
  Stripe stripe;
  stripe.use(pool);
  for (int i = 0; i < 40; ++i) {
    core::LimitState state;
    for (int t = 0; t < 20; ++t) core::charge(limit, state, 1, from_epoch_millis(1'000 + t));
    stripe.insert(static_cast<std::uint32_t>(i), "key" + std::to_string(i), std::move(state));
  }
  EXPECT_EQ(stripe.log_bytes, 40U * 32 * sizeof(core::LogEntry));
  for (int i = 0; i < 40; ++i) {
    stripe.erase(static_cast<std::uint32_t>(i), "key" + std::to_string(i));
  }
  EXPECT_EQ(stripe.log_bytes, 0U);
}

TEST(KeyHash, depends_on_every_byte_the_length_and_the_seed) {
  const KeyHash hash(7);
  const KeyHash other(8);
  std::set<std::uint64_t> hashes;
  std::size_t count = 0;
  for (std::size_t length = 0; length <= kKeyBytesMax; length += length < 40 ? 1 : 59) {
    const std::string zeros(length, '\0');
    hashes.insert(hash(zeros));
    hashes.insert(other(zeros));
    count += 2;
    for (std::size_t at = 0; at < length; ++at) {
      std::string key = zeros;
      key[at] = '\1';
      hashes.insert(hash(key));
      ++count;
    }
  }
  EXPECT_EQ(hashes.size(), count);
}

TEST(KeyHash, spreads_over_both_halves) {
  const KeyHash hash(7);
  std::array<int, 64> high{};
  std::array<int, 64> low{};
  for (int i = 0; i < 64'000; ++i) {
    const std::uint64_t value = hash("user:" + std::to_string(i));
    ++high[value >> 58];
    ++low[static_cast<std::uint32_t>(value) >> 26];
  }
  for (const int count : high) EXPECT_NEAR(count, 1'000, 200);
  for (const int count : low) EXPECT_NEAR(count, 1'000, 200);
}

}  // namespace
}  // namespace penstock::store::memory
