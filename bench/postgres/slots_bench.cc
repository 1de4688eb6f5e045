// Slots on PostgreSQL: how fast and how dense, against a bare INSERT of the same rows and against
// one transaction per event. Prints figures, then `ratio NAME VALUE goal VALUE`, higher is better.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bare.h"
#include "workload.h"

namespace penstock::bench {

void run_baseline(const store::postgres::ServerProcess& server, const std::string& sql_folder);
double fresh_baseline_rate(const store::postgres::ServerProcess& server,
                           const std::string& sql_folder);
void run_density(const store::postgres::ServerProcess& server, const std::string& sql_folder);
void run_held_snapshot(const store::postgres::ServerProcess& server);
void run_variants(const store::postgres::ServerProcess& server, const std::string& sql_folder);

namespace {

// Store and limit in turns, so that both see the same machine; the median of the rounds' ratios.
void run_against_bare(const store::postgres::ServerProcess& server, const std::string& sql_folder,
                      std::size_t connections, std::int64_t spread_ms) {
  const std::string suffix = std::to_string(connections) + (spread_ms > 0 ? "s" : "");
  const Database ours(server, "ours" + suffix);
  const Database bare(server, "bare" + suffix);
  ours.put("default", spread_ms > 0 ? 100'000 : kPlaces, kWindow);
  const auto node = ours.node(connections);
  BareInsert limit(bare, sql_folder, connections);
  Events events;
  std::vector<double> ratios, our_rates, bare_rates;
  constexpr int kRounds = 7;
  constexpr std::size_t kBatches = 120;
  for (int round = 0; round < kRounds; ++round) {
    const double b = rate(connections, kBatches,
                          [&](std::size_t thread) { limit.insert(thread, events.batch(kBatch)); });
    const double o = rate(connections, kBatches, [&](std::size_t) {
      assign(*node, events.batch(kBatch, "default", spread_ms));
    });
    if (round == 0) continue;  // warms caches and plans
    ratios.push_back(o / b);
    our_rates.push_back(o * kBatch);
    bare_rates.push_back(b * kBatch);
  }
  std::printf("batches of %zu, %zu connections, %s: %.0f events/s, bare insert %.0f rows/s\n",
              kBatch, connections, spread_ms > 0 ? "spread over an hour" : "one instant",
              median(our_rates), median(bare_rates));
  if (spread_ms == 0) {
    const std::string name = "postgres.assign_vs_bare_insert_" + std::to_string(connections);
    ratio(name.c_str(), median(ratios), 0.6);
  } else {
    // Each event has a window of its own: a counter is written for every row, which the limit does
    // not do. A figure, not a goal.
    std::printf("spread over an hour: %.2f of the bare insert\n", median(ratios));
  }
}

// A million events that all ask for one instant; then a tenth of that behind it and a tenth on a
// fresh database, in turns, so that both see the same machine; the median of the rounds' ratios.
// The bare INSERT does the same with as many rows: what it loses, the growing indexes cost.
class Million {
 public:
  Million(const store::postgres::ServerProcess& server, const std::string& sql_folder)
      : server_(server), sql_folder_(sql_folder) {}

  void run() {
    Ours ours(*this, "million");
    Bare bare(*this, "million_bare");
    for (std::size_t part = 0; part < kParts; ++part) {
      std::printf("after %7zu events: %.0f events/s, ", part * kPart * kBatch, ours.part());
      std::printf("bare insert %.0f rows/s\n", bare.part());
    }
    std::vector<double> ratios, bare_ratios;
    for (std::size_t round = 0; round < kRounds; ++round) {
      const std::string name = "fresh" + std::to_string(round);
      ratios.push_back(1 / Ours(*this, name).part());
      ratios.back() *= ours.part();
      bare_ratios.push_back(1 / Bare(*this, name + "_bare").part());
      bare_ratios.back() *= bare.part();
    }
    std::printf("after a million rows the bare insert runs at %.2f of fresh\n",
                median(bare_ratios));
    ratio("postgres.after_1m_vs_fresh", median(ratios), 0.85);
  }

 private:
  static constexpr std::size_t kParts = 10;
  static constexpr std::size_t kPart = 1'000'000 / kParts / kBatch + 1;
  static constexpr std::size_t kRounds = 5;
  static constexpr std::size_t kConnections = 4;

  struct Ours {
    Ours(const Million& million, const std::string& name) : database(million.server_, name) {
      database.put("default", kPlaces, kWindow);
      node = database.node(kConnections);
    }
    double part() {
      return kBatch *
             rate(kConnections, kPart, [&](std::size_t) { assign(*node, events.batch(kBatch)); });
    }
    Database database;
    std::unique_ptr<PostgresStore> node;
    Events events;
  };
  struct Bare {
    Bare(const Million& million, const std::string& name)
        : database(million.server_, name), limit(database, million.sql_folder_, kConnections) {}
    double part() {
      return kBatch * rate(kConnections, kPart,
                           [&](std::size_t thread) { limit.insert(thread, events.batch(kBatch)); });
    }
    Database database;
    BareInsert limit;
    Events events;
  };

  const store::postgres::ServerProcess& server_;
  const std::string& sql_folder_;
};

int run(int argc, char** argv) {
  if (argc < 2) stop("usage: bench_postgres SQL_FOLDER [--variants|--baseline|PART]");
  const std::string sql_folder = argv[1];
  const std::string_view only = argc > 2 ? argv[2] : "";
  const store::postgres::ServerProcess server(/*fsync=*/true);
  if (!server.problem().empty()) stop(server.problem());
  {
    const auto connection = must(Connection::open({.url = server.url("postgres")}, kPatient));
    std::printf("PostgreSQL %d.%d, fsync on\n", connection->server_version() / 10'000,
                connection->server_version() % 10'000);
  }
  if (only == "--variants") {
    run_variants(server, sql_folder);
    return 0;
  }
  if (only == "--baseline") {
    std::printf("baseline %.0f\n", fresh_baseline_rate(server, sql_folder));
    return 0;
  }
  const auto wanted = [&](std::string_view part) { return only.empty() || only == part; };
  if (wanted("bare")) run_against_bare(server, sql_folder, 1, 0);
  if (wanted("bare")) run_against_bare(server, sql_folder, 4, 0);
  if (wanted("bare")) run_against_bare(server, sql_folder, 4, 3'600'000);
  if (wanted("density")) run_density(server, sql_folder);
  if (wanted("baseline")) run_baseline(server, sql_folder);
  if (wanted("million")) Million(server, sql_folder).run();
  if (wanted("snapshot")) run_held_snapshot(server);
  return 0;
}

}  // namespace
}  // namespace penstock::bench

int main(int argc, char** argv) { return penstock::bench::run(argc, argv); }
