// Checks per second on MariaDB and PostgreSQL: batches of 64 on our store, and in the same run the
// predecessor's way, one transaction per check (SELECT … FOR UPDATE, decide, UPDATE, COMMIT) by 16
// clients on connections of their own. On 1,000 keys and on one hot key. Every server waits for the
// disk at a commit; the ratio `…_async` lets the predecessor's clients on PostgreSQL not wait
// either, as our usage does not.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "engine/mariadb/query.h"
#include "engine/postgres/testing/server_process.h"
#include "runtime/clocks.h"
#include "store/limits/mariadb/mariadb_store.h"
#include "store/postgres/postgres_store.h"
#include "workload.h"

namespace penstock::bench {
namespace {

constexpr Millis kPatience = Seconds{5};
constexpr std::uint64_t kKeyCounts[] = {1'000, 1};

std::int64_t now_ms() { return to_epoch_millis(runtime::SystemClock().now()); }

const char* name_of(std::uint64_t keys) { return keys == 1 ? "hot_key" : "1000_keys"; }

void print(const char* engine, std::uint64_t keys, double ours, double seed) {
  std::printf("%s %s: %.0f checks/s in batches of %zu, the predecessor's way %.0f\n", engine,
              name_of(keys), ours, kBatch, seed);
  std::printf("ratio engines_%s_%s_vs_seed %.1f goal 8\n", engine, name_of(keys), ours / seed);
  std::printf("ratio engines_%s_%s_per_10k %.1f goal 1\n", engine, name_of(keys), ours / 10'000);
}

double measure_store(store::LimitStore& limits, std::uint64_t keys) {
  Rng warm(99);
  for (int i = 0; i < 100; ++i) decide_batch(limits, keys, warm);
  return measure(4, [&](int, Rng& rng) { return decide_batch(limits, keys, rng); });
}

// --- PostgreSQL

using store::SqlFile;
namespace pg = store::postgres;

constexpr SqlFile kPgBegin{"seed_begin", "BEGIN"};
constexpr SqlFile kPgCommit{"seed_commit", "COMMIT"};
constexpr SqlFile kPgLock{
    "seed_lock",
    "SELECT tokens, last_refill FROM public.seed_usage WHERE key_id = $1::text "
    "FOR UPDATE"};
constexpr SqlFile kPgWrite{"seed_write",
                           "UPDATE public.seed_usage SET tokens = $2::bigint, last_refill = "
                           "$3::bigint WHERE key_id = $1::text"};
constexpr const char* kPgTable =
    "CREATE TABLE public.seed_usage (id bigserial PRIMARY KEY, key_id varchar(255) NOT NULL "
    "UNIQUE, "
    "tokens bigint NOT NULL, last_refill bigint NOT NULL); CREATE INDEX ON public.seed_usage "
    "(last_refill); INSERT INTO public.seed_usage (key_id, tokens, last_refill) SELECT 'user:' || "
    "n, "
    "1000000, 0 FROM generate_series(0, 999) n";

int seed_check(pg::Connection& connection, const std::string& key) {
  const runtime::Deadline deadline(kPatience);
  const pg::Call lock[] = {{.sql = kPgBegin, .params = {}, .commit = false},
                           {.sql = kPgLock, .params = pg::Params().text(key)}};
  const auto rows = connection.run(lock, deadline);
  if (!rows) return -1;
  SeedBucket bucket{(*rows)[1].int8(0, 0), (*rows)[1].int8(0, 1)};
  bucket.take(now_ms());
  const auto written = connection.run(
      {.sql = kPgWrite,
       .params = pg::Params().text(key).int8(bucket.tokens).int8(bucket.last_refill_ms)},
      deadline);
  if (!written || !connection.run({.sql = kPgCommit}, deadline)) return -1;
  return 1;
}

double measure_pg_seed(const pg::ConnectOptions& options, std::uint64_t keys) {
  std::vector<std::unique_ptr<pg::Connection>> connections;
  for (int i = 0; i < kSeedClients; ++i) {
    connections.push_back(std::move(*pg::Connection::open(options, runtime::Deadline(kPatience))));
  }
  return measure(kSeedClients, [&](int client, Rng& rng) {
    return seed_check(*connections[static_cast<std::size_t>(client)], key_name(rng.below(keys)));
  });
}

int run_postgres() {
  const pg::ServerProcess server(/*fsync=*/true);
  if (!server.problem().empty()) return std::printf("postgres: %s\n", server.problem().c_str()), 1;
  pg::ConnectOptions options{
      .url = server.url("postgres"), .statement_timeout = kPatience, .lock_timeout = kPatience};
  if (!pg::migrate(options)) return 1;
  auto admin = pg::Connection::open(options, runtime::Deadline(kPatience));
  if (!admin || !(*admin)->script(kPgTable, runtime::Deadline(kPatience))) return 1;
  auto store = pg::PostgresStore::open(
      {.url = options.url, .deadline = kPatience, .limits_deadline = kPatience}, nullptr);
  if (!store) return 1;
  for (const std::uint64_t keys : kKeyCounts) {
    options.durable = true;
    const double seed = measure_pg_seed(options, keys);
    const double ours = measure_store(*(*store)->backend().limits.store, keys);
    options.durable = false;
    const double async = measure_pg_seed(options, keys);
    print("postgres", keys, ours, seed);
    std::printf("the predecessor's way without waiting for the disk: %.0f\n", async);
    std::printf("ratio engines_postgres_%s_vs_seed_async %.1f goal 1\n", name_of(keys),
                ours / async);
  }
  constexpr SqlFile kSize{"size", "SELECT pg_table_size('penstock.throttle_usage')"};
  const auto size = (*admin)->run({.sql = kSize}, runtime::Deadline(kPatience));
  if (size) {
    std::printf("postgres throttle_usage: %lld KiB for 1,000 keys after all of this\n",
                static_cast<long long>(size->int8(0, 0) / 1024));
  }
  return 0;
}

// --- MariaDB

namespace maria = store::mariadb;

constexpr SqlFile kMariaLock{
    "seed_lock", "SELECT tokens, last_refill FROM seed_usage WHERE key_id = ? FOR UPDATE"};
constexpr SqlFile kMariaWrite{"seed_write",
                              "UPDATE seed_usage SET tokens = ?, last_refill = ? WHERE key_id = ?"};
constexpr const char* kMariaTable =
    "CREATE TABLE seed_usage (id BIGINT AUTO_INCREMENT PRIMARY KEY, key_id VARCHAR(255) NOT NULL, "
    "tokens BIGINT NOT NULL, last_refill BIGINT NOT NULL, UNIQUE INDEX (key_id), INDEX "
    "(last_refill)) ENGINE = InnoDB";
constexpr const char* kMariaRows =
    "INSERT INTO seed_usage (key_id, tokens, last_refill) SELECT CONCAT('user:', seq), 1000000, 0 "
    "FROM seq_0_to_999";

int seed_check(maria::Connection& connection, const std::string& key) {
  const runtime::Deadline deadline(kPatience);
  const std::string lock[] = {"BEGIN", maria::Query(kMariaLock).bytes(key).text()};
  const auto rows = connection.run(lock, deadline);
  if (!rows) return -1;
  SeedBucket bucket{(*rows)[1].number(0, 0), (*rows)[1].number(0, 1)};
  bucket.take(now_ms());
  const auto written = connection.run(maria::Query(kMariaWrite)
                                          .number(bucket.tokens)
                                          .number(bucket.last_refill_ms)
                                          .bytes(key)
                                          .text(),
                                      deadline);
  if (!written || !connection.run("COMMIT", deadline)) return -1;
  return 1;
}

double measure_maria_seed(const maria::ConnectOptions& options, std::uint64_t keys) {
  std::vector<std::unique_ptr<maria::Connection>> connections;
  for (int i = 0; i < kSeedClients; ++i) {
    connections.push_back(
        std::move(*maria::Connection::open(options, runtime::Deadline(kPatience))));
  }
  return measure(kSeedClients, [&](int client, Rng& rng) {
    return seed_check(*connections[static_cast<std::size_t>(client)], key_name(rng.below(keys)));
  });
}

int run_mariadb() {
  const store::ServerProcess server("mariadb", /*fsync=*/true);
  if (!server.problem().empty()) return std::printf("mariadb: %s\n", server.problem().c_str()), 1;
  const maria::MariadbOptions options{
      .url = "mysql://penstock:penstock@127.0.0.1:" + std::to_string(server.port()) + "/penstock",
      .deadline = kPatience,
      .upkeep_deadline = kPatience};
  const maria::ConnectOptions connect = maria::connect_options(options);
  if (!maria::migrate(connect)) return 1;
  auto admin = maria::Connection::open(connect, runtime::Deadline(kPatience));
  if (!admin || !(*admin)->run(kMariaTable, runtime::Deadline(kPatience)) ||
      !(*admin)->run(kMariaRows, runtime::Deadline(kPatience))) {
    return 1;
  }
  auto store = maria::MariadbStore::open(options, nullptr);
  if (!store) return 1;
  for (const std::uint64_t keys : kKeyCounts) {
    const double seed = measure_maria_seed(connect, keys);
    const double ours = measure_store(*(*store)->backend().limits.store, keys);
    print("mariadb", keys, ours, seed);
  }
  return 0;
}

}  // namespace
}  // namespace penstock::bench

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const int postgres = penstock::bench::run_postgres();
  const int mariadb = penstock::bench::run_mariadb();
  return postgres != 0 || mariadb != 0 ? 1 : 0;
}
