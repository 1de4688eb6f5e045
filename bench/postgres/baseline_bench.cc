// The design that Penstock replaces: one transaction per event, sixteen clients. Fresh, and behind
// 200,000 events; and how dense both designs pack events that all ask for one instant.
#include <memory>
#include <string>
#include <vector>

#include "workload.h"

namespace penstock::bench {
namespace {

constexpr std::size_t kClients = 16;
constexpr std::size_t kDensityEvents = 10'000;  // 100 windows suffice

class Baseline {
 public:
  Baseline(const store::postgres::ServerProcess& server, const std::string& sql_folder,
           const std::string& name)
      : database_(server, name) {
    database_.script(read_file(sql_folder + "/baseline_tables.sql"));
    database_.script(read_file(sql_folder + "/baseline_assign.sql"));
    for (std::size_t i = 0; i < kClients; ++i) connections_.push_back(database_.connect());
  }

  // Events per second, one event a call.
  double run(std::size_t events) {
    return rate(kClients, events, [&](std::size_t thread) {
      const std::string event = event_id(next_.fetch_add(1));
      const Rows answer = must(
          connections_[thread]->run(Call{.sql = kAssign,
                                         .params = Params()
                                                       .text(event)
                                                       .int8(kStartMs)
                                                       .int8(kWindow.count())
                                                       .int4(static_cast<std::int32_t>(kPlaces))
                                                       .text(kConfig)
                                                       .boolean(first_full_)},
                                    kPatient));
      if (answer.int8(0, 1) == 0) first_full_ = true;
    });
  }

  std::size_t drawn() const { return next_ - 1; }
  const Database& database() const { return database_; }

 private:
  static constexpr SqlFile kAssign{
      "baseline",
      "SELECT scheduled, first_has_room::integer::bigint FROM penstock.baseline_assign($1::text, "
      "$2::bigint, $3::bigint, $4::integer, $5::text, $6::boolean)"};
  static constexpr const char* kConfig = "6f9619ff-8b86-d011-b42d-00c04fc964ff";

  Database database_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::atomic<std::uint64_t> next_{1};
  // The design's memory of first windows without room; here everybody asks for the same one.
  std::atomic<bool> first_full_{false};
};

struct Density {
  double windows = 0;   // spanned, against the fewest possible
  double delay_ms = 0;  // mean, from the instant asked for
};

Density density_of(const Database& database, const char* table) {
  const std::string from = std::string(" FROM ") + table;
  const auto number = [&](const std::string& expression) {
    return static_cast<double>(
        database.number(("SELECT (" + expression + ")::bigint" + from).c_str()));
  };
  const double rows = number("count(*)");
  const double optimum = (rows + kPlaces - 1) / kPlaces;
  return {.windows = number("(max(window_start_ms) - min(window_start_ms)) / 4000 + 1") /
                     static_cast<double>(static_cast<std::int64_t>(optimum)),
          .delay_ms = number("avg(scheduled_ms - requested_ms)")};
}

Density our_density(const store::postgres::ServerProcess& server, std::size_t nodes) {
  const Database database(server, "density" + std::to_string(nodes));
  database.put("default", kPlaces, kWindow);
  std::vector<std::unique_ptr<PostgresStore>> stores;
  for (std::size_t i = 0; i < nodes; ++i) stores.push_back(database.node(4));
  Events events;
  // Small batches of an odd size: as much contention as the store can get.
  constexpr std::size_t kSmall = 25;
  rate(nodes * 4, kDensityEvents / kSmall,
       [&](std::size_t thread) { assign(*stores[thread % nodes], events.batch(kSmall)); });
  return density_of(database, "penstock.event_slot");
}

}  // namespace

void run_density(const store::postgres::ServerProcess& server, const std::string& sql_folder) {
  // Half of the last event's delay, and half a window of jitter.
  const double optimum =
      static_cast<double>(kDensityEvents / kPlaces) * static_cast<double>(kWindow.count()) / 2;
  const Density one = our_density(server, 1);
  const Density three = our_density(server, 3);
  Baseline baseline(server, sql_folder, "density_baseline");
  baseline.run(kDensityEvents);
  const Density theirs = density_of(baseline.database(), "penstock.baseline_slot");
  const auto print = [&](const char* name, const Density& density) {
    std::printf(
        "density, %zu events for one instant, %s: windows %.3f and mean delay %.3f of the "
        "optimum\n",
        kDensityEvents, name, density.windows, density.delay_ms / optimum);
  };
  print("one node", one);
  print("three nodes", three);
  print("baseline", theirs);
  ratio("postgres.density_one_node", 1.0 / one.windows, 1 / 1.01);
  ratio("postgres.density_three_nodes", 1.0 / three.windows, 1 / 1.10);
}

double fresh_baseline_rate(const store::postgres::ServerProcess& server,
                           const std::string& sql_folder) {
  return Baseline(server, sql_folder, "fresh_baseline").run(8'000);
}

void run_baseline(const store::postgres::ServerProcess& server, const std::string& sql_folder) {
  Baseline baseline(server, sql_folder, "baseline");
  const Database database(server, "later");
  database.put("default", kPlaces, kWindow);
  const auto node = database.node(4);
  Events events;
  const auto ours = [&](std::size_t batches) {
    return kBatch * rate(4, batches, [&](std::size_t) { assign(*node, events.batch(kBatch)); });
  };
  // Both in turns, so that they see the same machine; the median of the rounds.
  const auto compare = [&](const char* when, const char* name, double goal) {
    std::vector<double> ratios, our_rates, their_rates;
    for (int round = 0; round < 5; ++round) {
      their_rates.push_back(baseline.run(2'000));
      our_rates.push_back(ours(100));
      ratios.push_back(our_rates.back() / their_rates.back());
    }
    std::printf("one transaction per event, %zu clients, %s: %.0f events/s; ours: %.0f\n", kClients,
                when, median(their_rates), median(our_rates));
    ratio(name, median(ratios), goal);
  };
  compare("fresh", "postgres.vs_baseline_fresh", 13);
  baseline.run(200'000 - baseline.drawn());
  ours(events.drawn() < 200'000 ? (200'000 - events.drawn()) / kBatch : 0);
  compare("after 200000 events", "postgres.vs_baseline_after_200k", 40);
}

}  // namespace penstock::bench
