#include "service/slots/config_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/test_instants.h"

namespace penstock::service {
namespace {

// Configs in memory. `during_find` runs after the value was read and before it is given, as if a
// slow load were overtaken.
class ConfigsInMemory final : public store::SlotConfigStore {
 public:
  Result<std::optional<core::SlotConfig>> find(const ConfigName& name) override {
    ++finds;
    Result<std::optional<core::SlotConfig>> answer = std::nullopt;
    if (error) answer = std::unexpected(*error);
    if (const auto known = configs.find(name); !error && known != configs.end()) {
      answer = known->second;
    }
    if (during_find) std::exchange(during_find, nullptr)();
    return answer;
  }
  Result<store::SlotConfigChange> put(const core::SlotConfigDraft&,
                                      std::optional<Instant>) override {
    return fail(ErrorKind::unavailable, "not part of this test");
  }
  Result<std::vector<core::SlotConfig>> history(const ConfigName&, std::size_t) override {
    return fail(ErrorKind::unavailable, "not part of this test");
  }
  Result<std::vector<core::SlotConfig>> list(const ConfigName&, std::size_t) override {
    return fail(ErrorKind::unavailable, "not part of this test");
  }

  std::map<ConfigName, core::SlotConfig> configs;
  std::optional<Error> error;
  std::function<void()> during_find;
  std::atomic<int> finds = 0;
};

core::SlotConfig version_of(const ConfigName& name, std::int64_t version) {
  return {.name = name,
          .pool = PoolName::trusted(name.str()),
          .max_per_window = 100 + version,
          .window_size = Seconds{4},
          .version = version,
          .active = true};
}

class ConfigCacheTest : public testing::Test {
 protected:
  // The version that the cache tells; 0 when it says that there is none, -1 for an error.
  std::int64_t version() {
    const auto config = cache_.find(name_);
    if (!config) return -1;
    return *config ? (*config)->version : 0;
  }
  void store_version(std::int64_t version) { configs_.configs[name_] = version_of(name_, version); }

  // Series of the registry, as a scraper sees them.
  std::string count(std::string_view series) const {
    const std::string text = metrics_.prometheus_text();
    const std::string head = "\n" + std::string(series) + " ";
    const std::size_t at = text.find(head);
    if (at == std::string::npos) return "missing";
    const std::size_t begin = at + head.size();
    return text.substr(begin, text.find('\n', begin) - begin);
  }
  std::string hits() const { return count("rate_limiter_config_cache_hits_total"); }
  std::string misses() const { return count("rate_limiter_config_cache_misses_total"); }

  const ConfigName name_ = ConfigName::trusted("payments");
  ConfigsInMemory configs_;
  SimulatedClock clock_{kNoon};
  Log log_{clock_, -1, LogLevel::off, LogFormat::text};
  runtime::Metrics metrics_;
  ConfigCache cache_{configs_, clock_, log_, metrics_};
};

TEST_F(ConfigCacheTest, asks_the_store_once_and_then_answers_from_memory) {
  store_version(1);
  EXPECT_EQ(hits() + "/" + misses(), "0/0");
  const auto first = cache_.find(name_);
  ASSERT_TRUE(first && *first);
  EXPECT_EQ(**first, version_of(name_, 1));
  EXPECT_EQ(hits() + "/" + misses(), "0/1");
  EXPECT_EQ(*cache_.find(name_), *first) << "the same snapshot, not a copy";
  EXPECT_EQ(version(), 1);
  EXPECT_EQ(hits() + "/" + misses(), "2/1");
  EXPECT_EQ(configs_.finds, 1);
}

TEST_F(ConfigCacheTest, trusts_an_entry_for_its_time_to_live_and_not_longer) {
  store_version(1);
  EXPECT_EQ(version(), 1);
  store_version(2);
  clock_.advance(ConfigCache::kTtl - Micros{1});
  EXPECT_EQ(version(), 1);
  clock_.advance(Micros{1});
  EXPECT_EQ(version(), 2);
  EXPECT_EQ(hits() + "/" + misses(), "1/2");
}

TEST_F(ConfigCacheTest, counts_the_time_to_live_from_before_the_load) {
  store_version(1);
  configs_.during_find = [this] { clock_.advance(Seconds{3}); };
  EXPECT_EQ(version(), 1);
  store_version(2);
  clock_.advance(ConfigCache::kTtl - Seconds{3});
  EXPECT_EQ(version(), 2);
}

TEST_F(ConfigCacheTest, does_not_trust_an_entry_from_the_future) {
  store_version(1);
  EXPECT_EQ(version(), 1);
  store_version(2);
  clock_.advance(Micros{-1});
  EXPECT_EQ(version(), 2);
}

TEST_F(ConfigCacheTest, remembers_that_a_name_does_not_exist) {
  EXPECT_EQ(version(), 0);
  EXPECT_EQ(version(), 0);
  EXPECT_EQ(hits() + "/" + misses(), "1/1");
  EXPECT_EQ(configs_.finds, 1);
  store_version(1);
  clock_.advance(ConfigCache::kTtl);
  EXPECT_EQ(version(), 1);
}

TEST_F(ConfigCacheTest, keeps_names_apart) {
  store_version(1);
  EXPECT_EQ(version(), 1);
  const auto other = cache_.find(ConfigName::trusted("other"));
  ASSERT_TRUE(other);
  EXPECT_EQ(*other, nullptr);
  EXPECT_EQ(version(), 1);
}

TEST_F(ConfigCacheTest, passes_a_store_error_on_and_keeps_nothing_of_it) {
  store_version(1);
  configs_.error = Error{.kind = ErrorKind::unavailable, .what = "gone"};
  const auto failed = cache_.find(name_);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(failed.error().what, "gone");
  configs_.error.reset();
  EXPECT_EQ(version(), 1);
  EXPECT_EQ(hits() + "/" + misses(), "0/2");
}

TEST_F(ConfigCacheTest, does_not_stretch_an_entry_when_the_store_fails) {
  store_version(1);
  EXPECT_EQ(version(), 1);
  clock_.advance(ConfigCache::kTtl);
  configs_.error = Error{.kind = ErrorKind::unavailable, .what = "gone"};
  EXPECT_EQ(version(), -1);
}

TEST_F(ConfigCacheTest, forgets_everything_when_flushed) {
  store_version(1);
  EXPECT_EQ(version(), 1);
  store_version(2);
  cache_.flush();
  EXPECT_EQ(version(), 2);
  EXPECT_EQ(hits() + "/" + misses(), "0/2");
}

TEST_F(ConfigCacheTest, forgets_one_name_and_keeps_the_others) {
  const ConfigName other = ConfigName::trusted("other");
  store_version(1);
  EXPECT_EQ(version(), 1);
  ASSERT_TRUE(cache_.find(other));
  store_version(2);
  cache_.forget(name_);
  EXPECT_EQ(version(), 2);
  ASSERT_TRUE(cache_.find(other));
  EXPECT_EQ(configs_.finds, 3);
}

TEST_F(ConfigCacheTest, takes_over_at_once_what_this_node_changed) {
  store_version(1);
  EXPECT_EQ(version(), 1);
  cache_.remember(version_of(name_, 2));
  EXPECT_EQ(version(), 2);
  EXPECT_EQ(configs_.finds, 1);
}

TEST_F(ConfigCacheTest, takes_over_the_first_version_of_a_name_it_knew_not_to_exist) {
  EXPECT_EQ(version(), 0);
  cache_.remember(version_of(name_, 1));
  EXPECT_EQ(version(), 1);
  EXPECT_EQ(configs_.finds, 1);
}

TEST_F(ConfigCacheTest, does_not_go_back_to_an_older_version) {
  cache_.remember(version_of(name_, 3));
  cache_.remember(version_of(name_, 2));
  EXPECT_EQ(version(), 3);
}

TEST_F(ConfigCacheTest, trusts_a_remembered_version_from_then_on) {
  store_version(1);
  EXPECT_EQ(version(), 1);
  clock_.advance(Seconds{3});
  cache_.remember(version_of(name_, 1));
  clock_.advance(ConfigCache::kTtl - Micros{1});
  EXPECT_EQ(version(), 1);
  EXPECT_EQ(configs_.finds, 1);
  clock_.advance(Micros{1});
  EXPECT_EQ(version(), 1);
  EXPECT_EQ(configs_.finds, 2);
}

TEST_F(ConfigCacheTest, does_not_keep_a_load_that_a_change_overtook) {
  store_version(1);
  configs_.during_find = [this] {
    store_version(2);
    cache_.remember(version_of(name_, 2));
  };
  EXPECT_EQ(version(), 1) << "what the store said when it was asked";
  EXPECT_EQ(version(), 2);
  EXPECT_EQ(configs_.finds, 1);
}

TEST_F(ConfigCacheTest, does_not_keep_a_load_that_a_flush_overtook) {
  store_version(1);
  configs_.during_find = [this] {
    store_version(2);
    cache_.flush();
  };
  EXPECT_EQ(version(), 1);
  EXPECT_EQ(version(), 2);
  EXPECT_EQ(configs_.finds, 2);
}

TEST_F(ConfigCacheTest, starts_over_when_it_holds_too_many_names) {
  const auto nth = [](std::size_t i) { return ConfigName::trusted("n" + std::to_string(i)); };
  for (std::size_t i = 0; i < ConfigCache::kNamesMax; ++i) ASSERT_TRUE(cache_.find(nth(i)));
  const int before = configs_.finds;
  cache_.remember(version_of(nth(7), 1));  // a name it holds needs no new place
  ASSERT_TRUE(cache_.find(nth(0)));
  EXPECT_EQ(configs_.finds, before);
  ASSERT_TRUE(cache_.find(nth(ConfigCache::kNamesMax)));
  ASSERT_TRUE(cache_.find(nth(ConfigCache::kNamesMax)));
  EXPECT_EQ(configs_.finds, before + 1);
  ASSERT_TRUE(cache_.find(nth(0)));
  EXPECT_EQ(configs_.finds, before + 2);
}

TEST_F(ConfigCacheTest, may_be_used_by_several_threads) {
  store_version(1);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([this, t] {
        for (int i = 0; i < 300; ++i) {
          const auto config = cache_.find(name_);
          EXPECT_TRUE(config && *config && (*config)->version >= 1);
          if (t == 0) cache_.remember(version_of(name_, i + 1));
          if (t == 1 && i % 10 == 0) cache_.flush();
        }
      });
    }
  }
  EXPECT_EQ(std::stoi(hits()) + std::stoi(misses()), 4 * 300);
}

}  // namespace
}  // namespace penstock::service
