// What a transaction that stays open does to the rate: it keeps every old version of every row
// alive. Once with the usual windows, once with all events in one window, whose counter is then the
// hottest row there can be.
#include <string>

#include "workload.h"

namespace penstock::bench {
namespace {

void measure(const store::postgres::ServerProcess& server, const std::string& name,
             std::int64_t places, double goal) {
  const Database database(server, "held_" + name);
  database.put("default", places, kWindow);
  const auto node = database.node(4);
  Events events;
  constexpr std::size_t kWarm = 60;
  constexpr std::size_t kBatches = 250;
  const auto work = [&](std::size_t) { assign(*node, events.batch(kBatch)); };
  rate(4, kWarm, work);
  const double before = rate(4, kBatches, work) * kBatch;
  const auto holder = database.connect();
  must(holder->script(
      "SET idle_in_transaction_session_timeout = 0; BEGIN ISOLATION LEVEL REPEATABLE "
      "READ; SELECT count(*) FROM penstock.slot_config",
      kPatient));
  rate(4, 2 * kBatches, work);
  const double held = rate(4, kBatches, work) * kBatch;
  must(node->backend().health->check());
  database.script("ANALYZE penstock.slot_window");
  const std::int64_t dead =
      database.number("SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = 'slot_window'");
  const std::int64_t live = database.number("SELECT count(*) FROM penstock.slot_window");
  std::printf(
      "held snapshot, %s: %.0f events/s before, %.0f with it; slot_window has %lld rows and "
      "%lld dead ones\n",
      name.c_str(), before, held, static_cast<long long>(live), static_cast<long long>(dead));
  ratio(("postgres.held_snapshot_" + name).c_str(), held / before, goal);
}

}  // namespace

void run_held_snapshot(const store::postgres::ServerProcess& server) {
  measure(server, "usual_windows", kPlaces, 0.8);
  measure(server, "one_hot_window", 10'000'000, 0.8);
}

}  // namespace penstock::bench
