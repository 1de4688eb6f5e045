// What belongs to the store as a whole: its listener and the clock of its retention. Thread-safe.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "base/log.h"
#include "engine/postgres/connection.h"
#include "runtime/connection_health.h"
#include "store/queue/postgres/queue.h"
#include "store/retention_clock.h"
#include "store/slots/ports.h"

namespace penstock::store::postgres {

// ChangeFeed on LISTEN/NOTIFY: one connection and one thread of its own, which serves the news of
// items too. Whenever the connection had to be made anew, news may have been missed, so everything
// counts as changed. The thread also gives back the places of slot batches that failed half way and
// folds the counts of items, of any node.
class Changes final : public ChangeFeed {
 public:
  // So often abandoned places are looked for. That is a sign of life too: news of a change is
  // missed for no longer than this and one deadline.
  static constexpr Millis kTick = Seconds{1};

  // Starts listening at once. `items` must outlive this; so must `log` unless null.
  Changes(Database database, ItemNews& items, ConnectOptions options, std::uint64_t seed, Log* log);
  ~Changes() override;

  void subscribe(Listener listener) override;
  Result<void> flush_everywhere() override;

 private:
  void run();
  DatabaseResult<std::unique_ptr<Connection>> listen();
  // Until the connection breaks or we are to stop.
  DatabaseError follow(Connection& connection);
  // Runs one of the small duties; an error: the connection broke. `done` is logged when the answer
  // is not zero.
  DatabaseResult<void> do_duty(Connection& connection, std::string_view name, const char* failed,
                               const char* done);
  void tell(const std::optional<ConfigName>& changed);
  void pause(Millis duration);

  const Database database_;
  ItemNews& items_;
  const ConnectOptions options_;
  Log* const log_;
  runtime::Backoff backoff_;  // of the thread
  int wake_fd_;               // an eventfd: readable once we are to stop
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  Listener listener_;   // guarded by mutex_, also while it runs
  std::thread thread_;  // last: it uses all of the above
};

// The progress that all nodes share, in one row, by the database's clock.
std::unique_ptr<RetentionClock> make_retention_clock(Database database);

}  // namespace penstock::store::postgres
