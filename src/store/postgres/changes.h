// ChangeFeed on LISTEN/NOTIFY: one connection and one thread of its own, which serves the news of
// items too. Whenever the connection had to be made anew, news may have been missed, so everything
// counts as changed. The thread also gives back the places of slot batches that failed half way and
// folds the counts of items, of any node. Thread-safe.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "base/log.h"
#include "engine/postgres/pool.h"
#include "runtime/backoff.h"
#include "store/queue/postgres/item_news.h"
#include "store/slots/ports.h"

namespace penstock::store::postgres {

class Changes final : public ChangeFeed {
 public:
  // So often abandoned places are looked for. That is a sign of life too: news of a change is
  // missed for no longer than this and one deadline.
  static constexpr Millis kTick = Seconds{1};

  // Starts listening at once. `pool` (to send) and `items` must outlive this; so must `log` unless
  // null.
  Changes(Pool& pool, ItemNews& items, ConnectOptions options, Millis deadline, std::uint64_t seed,
          Log* log);
  ~Changes() override;

  void subscribe(Listener listener) override;
  Result<void> flush_everywhere() override;

 private:
  void run();
  DatabaseResult<std::unique_ptr<Connection>> listen();
  // Until the connection breaks or we are to stop.
  DatabaseError follow(Connection& connection);
  DatabaseResult<void> give_back(Connection& connection);
  DatabaseResult<void> fold_counts(Connection& connection);
  void tell(const std::optional<ConfigName>& changed);
  void pause(Millis duration);

  Pool& pool_;
  ItemNews& items_;
  const ConnectOptions options_;
  const Millis deadline_;
  Log* const log_;
  runtime::Backoff backoff_;  // of the thread
  int wake_fd_;               // an eventfd: readable once we are to stop
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  Listener listener_;   // guarded by mutex_, also while it runs
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace penstock::store::postgres
