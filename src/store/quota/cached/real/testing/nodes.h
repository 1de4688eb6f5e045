// Nodes of a gateway with real servers: a fresh PostgreSQL database, and a Redis behind a proxy of
// the node's own. For tests only.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/testing/tcp_proxy.h"
#include "runtime/clocks.h"
#include "store/postgres/testing/test_server.h"
#include "store/quota/cached/cached_gate.h"
#include "store/quota/cached/real/testing/counting_ports.h"
#include "store/redis/testing/test_server.h"

namespace penstock::store::cached {

using Postgres = postgres::TestServer;
using Redis = redis::TestServer;

// A database of our own.
class Database {
 public:
  Database() : name_(Postgres::shared().fresh_database()) {}
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() { Postgres::shared().drop(name_); }

  std::string url() const { return Postgres::shared().url(name_); }
  long long number(const std::string& sql) const { return Postgres::shared().number(name_, sql); }
  std::string query(const std::string& sql) const { return Postgres::shared().query(name_, sql); }

 private:
  const std::string name_;
};

// Reads what is logged.
class LogReader {
 public:
  LogReader() : log_(clock_, open_pipe(), LogLevel::debug, LogFormat::json) {}
  ~LogReader() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  Log& log() { return log_; }
  std::size_t count(std::string_view text) {
    char buffer[65'536];
    for (;;) {
      const ssize_t size = ::read(ends_[0], buffer, sizeof buffer);
      if (size <= 0) break;
      all_.append(buffer, static_cast<std::size_t>(size));
    }
    std::size_t found = 0;
    for (std::size_t at = all_.find(text); at != all_.npos; at = all_.find(text, at + 1)) ++found;
    return found;
  }
  const std::string& all() const { return all_; }

 private:
  int open_pipe() {
    EXPECT_EQ(::pipe2(ends_, O_CLOEXEC | O_NONBLOCK), 0);
    return ends_[1];
  }

  int ends_[2] = {-1, -1};
  runtime::SystemClock clock_;
  Log log_;
  std::string all_;
};

struct NodeSettings {
  std::string redis_url;
  bool cluster = false;
  Millis redis_deadline = Seconds{5};  // sanitizers and a busy machine make even small calls slow
  CacheOptions cache = {.term = Seconds{4}, .pause_first = Millis{20}, .pause_longest = Millis{50}};
  Log* log = nullptr;
  bool counting = false;
};

// One daemon's part of it.
class Node {
 public:
  Node(const std::string& postgres_url, const NodeSettings& settings)
      : postgres_(
            postgres::open_store({.url = postgres_url, .connections = 4, .deadline = Seconds{10}})),
        redis_(redis::open_store({.url = settings.redis_url,
                                  .cluster = settings.cluster,
                                  .connections = 8,
                                  .deadline = settings.redis_deadline})) {
    static std::atomic<std::uint64_t> lives{0};
    if (settings.counting) {
      counting_ = std::make_unique<CountingLedger>(ledger());
      counting_cache_ = std::make_unique<CountingCache>(cache());
    }
    QuotaLedger& asked = counting_ ? static_cast<QuotaLedger&>(*counting_) : ledger();
    QuotaCache& before = counting_ ? static_cast<QuotaCache&>(*counting_cache_) : cache();
    gate_ = std::make_unique<CachedGate>(asked, before, settings.cache,
                                         mix64(++lives) ^ static_cast<std::uint64_t>(::getpid()),
                                         settings.log);
    quotas_ = std::make_unique<CachedQuotas>(*postgres_->backend().quota.store, *gate_);
  }

  CachedGate& gate() { return *gate_; }
  CachedQuotas& quotas() { return *quotas_; }
  CountingLedger* counting() { return counting_.get(); }
  CountingCache* counting_cache() { return counting_cache_.get(); }
  QuotaLedger& ledger() { return *postgres_->backend().quota.ledger; }
  QuotaCache& cache() { return *redis_->backend().quota.cache; }

  bool wait_for_cache(bool in_use = true, double seconds = 30) {
    const runtime::Stopwatch watch;
    while (gate_->member().in_use() != in_use && watch.seconds() < seconds) {
      std::this_thread::sleep_for(Millis{1});
    }
    return gate_->member().in_use() == in_use;
  }

  ChargeResult charge(UserId user, std::int64_t cost = 1) {
    const Charge one{.user = user, .cost = cost};
    const auto answers = gate_->charge({&one, 1}, std::nullopt);
    EXPECT_TRUE(answers[0]) << answers[0].error().what;
    return answers[0] ? answers[0]->result : ChargeResult::unknown_user;
  }
  void put(UserId user, std::int64_t limit, std::int64_t minutes = 60) {
    const auto put =
        quotas_->put(user, {.rate_limit = limit, .window = core::Minutes{minutes}}, std::nullopt);
    EXPECT_TRUE(put) << put.error().what;
  }
  std::int64_t count(UserId user) {
    const auto found = quotas_->find(user);
    EXPECT_TRUE(found && *found);
    return found && *found ? (*found)->count : -1;
  }

 private:
  std::unique_ptr<postgres::PostgresStore> postgres_;
  std::unique_ptr<redis::RedisStore> redis_;
  std::unique_ptr<CountingLedger> counting_;
  std::unique_ptr<CountingCache> counting_cache_;
  std::unique_ptr<CachedGate> gate_;
  std::unique_ptr<CachedQuotas> quotas_;
};

inline std::string redis_url(int port) { return "redis://127.0.0.1:" + std::to_string(port); }

}  // namespace penstock::store::cached
