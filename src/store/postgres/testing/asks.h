// Short words for requests in the tests of this room. For tests only.
#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "runtime/clocks.h"
#include "store/postgres/testing/test_server.h"

namespace penstock::store::postgres {

inline constexpr Instant kNoon = from_epoch_millis(1'900'000'800'000);  // of 4-second windows

inline SlotRequest ask(const std::string& event, const std::string& config = "default",
                       Instant at = kNoon) {
  return {.event = EventId::trusted(event),
          .config_name = ConfigName::trusted(config),
          .requested = at,
          .max_delay = std::chrono::days{30},
          .entropy = mix64(std::hash<std::string>{}(event))};
}

inline std::vector<SlotRequest> asks(const std::string& prefix, int from, int count,
                                     const std::string& config = "default", Instant at = kNoon) {
  std::vector<SlotRequest> requests;
  for (int i = from; i < from + count; ++i) {
    requests.push_back(ask(prefix + std::to_string(i), config, at));
  }
  return requests;
}

inline void put(PostgresStore& store, std::int64_t max, const std::string& name = "default",
                const std::string& pool = "default", Millis size = Seconds{4}) {
  const auto change = store.backend().slots.configs->put({.name = ConfigName::trusted(name),
                                                          .pool = PoolName::trusted(pool),
                                                          .max_per_window = max,
                                                          .window_size = size},
                                                         std::nullopt);
  EXPECT_TRUE(change) << change.error().what;
}

// Windows whose counter differs from the rows it should count, in either direction.
inline constexpr const char* kMiscounted =
    "SELECT count(*) FROM (SELECT pool_id, window_start_ms, sum(used) AS used FROM "
    "penstock.slot_window WHERE used > 0 GROUP BY 1, 2) w FULL JOIN (SELECT c.pool_id, "
    "s.window_start_ms, count(*) AS used FROM penstock.event_slot s JOIN penstock.slot_config c "
    "USING (config_id) WHERE s.status < 2 GROUP BY 1, 2) s USING (pool_id, window_start_ms) "
    "WHERE w.used IS DISTINCT FROM s.used";

// Waits until no places are reserved any more, as is so soon when no batch is on its way; then the
// counters must equal the rows.
inline void expect_settled(const std::string& database) {
  TestServer& server = TestServer::shared();
  const runtime::Stopwatch watch;
  while (server.number(database, "SELECT count(*) FROM penstock.slot_reservation") > 0) {
    ASSERT_LT(watch.seconds(), 30) << "reserved places were not given back";
    std::this_thread::yield();
  }
  EXPECT_EQ(server.number(database, kMiscounted), 0);
}

}  // namespace penstock::store::postgres
