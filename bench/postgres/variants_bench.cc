// What was refused, measured beside what was chosen: waiting for the disk under the pool lock,
// skipping locked windows, and placing in the client. Figures for
// docs/decisions/0010-postgres-slots.md.
#include <algorithm>
#include <string>
#include <vector>

#include "bare.h"
#include "client_placement.h"
#include "workload.h"

namespace penstock::bench {
namespace {

constexpr std::size_t kBatches = 150;

double spanned(const Database& database) {
  const std::int64_t span = database.number(
      "SELECT (max(window_start_ms) - min(window_start_ms)) / 4000 + 1 FROM penstock.slot_window "
      "WHERE used > 0");
  const std::int64_t rows = database.number("SELECT count(*) FROM penstock.event_slot");
  return static_cast<double>(span) / static_cast<double>((rows + kPlaces - 1) / kPlaces);
}

void report(const char* name, std::size_t connections, double batches, double density) {
  std::printf("%-40s %2zu connections %8.0f events/s, windows %.3f of the optimum\n", name,
              connections, batches * kBatch, density);
  std::fflush(stdout);
}

// Drops the early release from the installed procedure: the pool lock is held over the disk wait.
void hold_lock_over_disk_wait(const Database& database) {
  const auto replace_all = [](std::string& text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  };
  std::string text = store::sql_file(store::postgres::embedded_functions(), "assign_slots").text;
  replace_all(text, "CREATE PROCEDURE", "CREATE OR REPLACE PROCEDURE");
  replace_all(text, "'synchronous_commit', 'off'", "'synchronous_commit', 'on'");
  database.script("SET search_path = penstock; " + text);
}

void measure_server(const store::postgres::ServerProcess& server, bool early, std::size_t nodes,
                    std::size_t connections, std::int64_t spread_ms) {
  static int number = 0;
  const Database database(server, "server" + std::to_string(++number));
  database.put("default", spread_ms > 0 ? 100'000 : kPlaces, kWindow);
  if (!early) hold_lock_over_disk_wait(database);
  std::vector<std::unique_ptr<PostgresStore>> stores;
  for (std::size_t i = 0; i < nodes; ++i) stores.push_back(database.node(connections));
  Events events;
  const auto work = [&](std::size_t thread) {
    assign(*stores[thread % nodes], events.batch(kBatch, "default", spread_ms));
  };
  rate(nodes * connections, kBatches / 4, work);
  const double batches = rate(nodes * connections, kBatches, work);
  const std::string name = std::string(early ? "server, wait, early release" : "server, wait") +
                           (spread_ms > 0 ? ", spread" : "");
  report(name.c_str(), nodes * connections, batches, spread_ms > 0 ? 0 : spanned(database));
}

void measure_skip(const store::postgres::ServerProcess& server, const std::string& sql_folder,
                  std::size_t connections) {
  const Database database(server, "skip" + std::to_string(connections));
  database.put("default", kPlaces, kWindow);
  database.script("SET search_path = penstock; " +
                  read_file(sql_folder + "/skip_locked_assign.sql"));
  // A row that does not exist cannot be skipped: windows must be provisioned ahead.
  database.script(
      "INSERT INTO penstock.slot_window SELECT 1900000000000 + n * 4000, 1, 0, 0, 0 "
      "FROM generate_series(0, 9999) n");
  std::vector<std::unique_ptr<Connection>> open;
  for (std::size_t i = 0; i < connections; ++i) open.push_back(database.connect());
  const SqlFile sql{
      "skip",
      "SELECT penstock.skip_locked_assign($1::text[], $2::bigint[], 1900000000000, 1, 1,"
      " 4000, 100, $3::bigint)"};
  const SqlFile& flush = store::postgres::statement("flush");
  Events events;
  std::vector<std::int64_t> hints(connections, kStartMs);
  const auto work = [&](std::size_t thread) {
    const std::vector<SlotRequest> requests = events.batch(kBatch);
    std::vector<std::string_view> ids;
    std::vector<std::int64_t> entropy;
    for (const SlotRequest& request : requests) {
      ids.emplace_back(request.event.str());
      entropy.push_back(static_cast<std::int64_t>(request.entropy));
    }
    const Call calls[] = {
        {.sql = sql, .params = Params().texts(ids).int8s(entropy).int8(hints[thread])},
        {.sql = flush}};
    const auto rows = must(open[thread]->run(calls, kPatient));
    // Leaves room for the holes that other batches may have left behind.
    hints[thread] = std::max(kStartMs, rows.front().integers(0, 0).front() - 40 * 4'000);
  };
  rate(connections, kBatches / 4, work);
  const double batches = rate(connections, kBatches, work);
  report("server, skip locked, early release", connections, batches, spanned(database));
}

void measure_client(const store::postgres::ServerProcess& server, std::size_t connections,
                    std::int64_t spread_ms) {
  static int number = 0;
  const Database database(server, "client" + std::to_string(++number));
  database.put("default", spread_ms > 0 ? 100'000 : kPlaces, kWindow);
  ClientPlacement client(database, connections, spread_ms > 0 ? 100'000 : kPlaces);
  Events events;
  const auto work = [&](std::size_t thread) {
    client.assign(thread, events.batch(kBatch, "default", spread_ms));
  };
  rate(connections, kBatches / 4, work);
  const double batches = rate(connections, kBatches, work);
  report(spread_ms > 0 ? "client, wait, early release, spread" : "client, wait, early release",
         connections, batches, spread_ms > 0 ? 0 : spanned(database));
}

}  // namespace

void run_variants(const store::postgres::ServerProcess& server, const std::string& sql_folder) {
  constexpr std::int64_t kHour = 3'600'000;
  for (int round = 0; round < 2; ++round) {
    for (const std::size_t connections : {std::size_t{1}, std::size_t{4}}) {
      measure_server(server, true, 1, connections, 0);
      measure_server(server, false, 1, connections, 0);
      if (round == 0) measure_skip(server, sql_folder, connections);
      measure_client(server, connections, 0);
    }
    measure_server(server, true, 1, 4, kHour);
    measure_client(server, 4, kHour);
    measure_server(server, true, 3, 4, 0);
    measure_server(server, false, 3, 4, 0);
    if (round == 0) measure_skip(server, sql_folder, 12);
    measure_client(server, 12, 0);
  }
}

}  // namespace penstock::bench
