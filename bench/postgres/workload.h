// What all parts of this benchmark share: a server with its disk waits on, databases, events,
// threads and the rate they reach.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "base/time.h"
#include "engine/postgres/connection.h"
#include "engine/postgres/testing/server_process.h"
#include "runtime/clocks.h"
#include "store/postgres/postgres_store.h"

namespace penstock::bench {

using store::SlotRequest;
using store::postgres::Call;
using store::postgres::Connection;
using store::postgres::Params;
using store::postgres::PostgresStore;
using store::postgres::Rows;
using store::postgres::SqlFile;

inline constexpr std::size_t kBatch = 256;    // the goal's batch
inline constexpr std::int64_t kPlaces = 100;  // per window, as the goal's density test
inline constexpr Millis kWindow{4'000};       // the predecessors' usual window
inline constexpr std::int64_t kStartMs = 1'900'000'000'000;  // the instant that everybody asks for
inline const runtime::Deadline kPatient{std::chrono::hours{1}};

[[noreturn]] inline void stop(const std::string& why) {
  std::fprintf(stderr, "bench_postgres: %s\n", why.c_str());
  std::exit(1);
}

template <class T>
auto must(T&& result) {
  if (!result) {
    if constexpr (requires { result.error().error; })
      stop(result.error().error.what);
    else
      stop(result.error().what);
  }
  if constexpr (!std::is_void_v<typename std::remove_cvref_t<T>::value_type>) {
    return std::move(*result);
  }
}

inline std::string read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) stop("cannot read " + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// One database of the run.
class Database {
 public:
  Database(const store::postgres::ServerProcess& server, const std::string& name)
      : url_(server.url(name)) {
    auto admin = must(Connection::open(
        {.url = server.url("postgres"), .statement_timeout = Seconds{600}}, kPatient));
    must(admin->script("CREATE DATABASE " + name, kPatient));
    must(store::postgres::migrate({.url = url_}));
  }

  const std::string& url() const { return url_; }
  std::unique_ptr<Connection> connect() const {
    return must(Connection::open({.url = url_, .statement_timeout = Seconds{600}}, kPatient));
  }
  std::unique_ptr<PostgresStore> node(std::size_t connections) const {
    return must(PostgresStore::open(
        {.url = url_, .connections = connections, .deadline = Seconds{60}}, nullptr));
  }
  void script(const std::string& sql) const { must(connect()->script(sql, kPatient)); }
  std::int64_t number(const char* sql) const {
    const SqlFile query{"number", sql};
    return must(connect()->run(Call{.sql = query}, kPatient)).int8(0, 0);
  }
  void put(const std::string& name, std::int64_t max, Millis size) const {
    must(node(1)->backend().slots.configs->put({.name = ConfigName::trusted(name),
                                                .pool = PoolName::trusted(name),
                                                .max_per_window = max,
                                                .window_size = size},
                                               std::nullopt));
  }

 private:
  std::string url_;
};

// Ids that land all over the index, as those of real clients do.
inline std::string event_id(std::uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof(text), "ev-%016llx", static_cast<unsigned long long>(mix64(number)));
  return text;
}

class Events {
 public:
  std::vector<SlotRequest> batch(std::size_t size, const std::string& config = "default",
                                 std::int64_t spread_ms = 0) {
    std::vector<SlotRequest> requests(size);
    std::uint64_t number = next_.fetch_add(size);
    const ConfigName name = ConfigName::trusted(config);
    for (SlotRequest& request : requests) {
      const std::uint64_t chance = mix64(~number);
      request = {
          .event = EventId::trusted(event_id(number++)),
          .config_name = name,
          .requested = from_epoch_millis(
              kStartMs + (spread_ms == 0 ? 0
                                         : static_cast<std::int64_t>(
                                               chance % static_cast<std::uint64_t>(spread_ms)))),
          .max_delay = std::chrono::days{30},
          .entropy = chance};
    }
    return requests;
  }
  std::uint64_t drawn() const { return next_; }

 private:
  std::atomic<std::uint64_t> next_{1};
};

// Runs `work(thread)` on each thread again and again until `total` calls were made; calls per
// second.
inline double rate(std::size_t threads, std::size_t total,
                   const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> left{total};
  const auto take = [&] {
    std::size_t now = left.load();
    while (now > 0 && !left.compare_exchange_weak(now, now - 1)) {
    }
    return now > 0;
  };
  std::vector<std::thread> running;
  const runtime::Stopwatch watch;
  for (std::size_t i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      while (take()) work(i);
    });
  }
  for (std::thread& thread : running) thread.join();
  return static_cast<double>(total) / watch.seconds();
}

// Assigns a batch; every answer must be a slot.
inline void assign(PostgresStore& node, const std::vector<SlotRequest>& requests) {
  for (const auto& answer : node.backend().slots.store->assign(requests, std::nullopt)) {
    if (!answer) stop(answer.error().what);
  }
}

inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

inline void ratio(const char* name, double value, double goal) {
  std::printf("ratio %s %.2f goal %.2f\n", name, value, goal);
  std::fflush(stdout);
}

}  // namespace penstock::bench
