// The connections to one Redis node: a few, opened when first needed, lent to one caller at a time.
// While the node is away one caller at a time tries to reach it, at growing intervals, and
// everybody else fails at once. Thread-safe; leases keep the pool alive.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "engine/redis/connection.h"
#include "runtime/connection_health.h"

namespace penstock::store::redis {

class Pool : public std::enable_shared_from_this<Pool> {
 public:
  // A borrowed connection; goes back by itself, or away when it broke.
  class Lease {
   public:
    Lease(std::shared_ptr<Pool> pool, std::unique_ptr<Connection> connection) noexcept
        : pool_(std::move(pool)), connection_(std::move(connection)) {}
    Lease(Lease&&) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (connection_) pool_->give_back(std::move(connection_));
    }
    Connection* operator->() const noexcept { return connection_.get(); }

   private:
    std::shared_ptr<Pool> pool_;
    std::unique_ptr<Connection> connection_;
  };

  // `log` may be null; else it must outlive the pool.
  Pool(ConnectOptions options, Endpoint endpoint, std::size_t connections_max, std::uint64_t seed,
       Log* log);

  // Waits for a free connection at most until the deadline; `unavailable` when there is none, at
  // once when the node was found away a moment ago.
  ClientResult<Lease> acquire(const runtime::Deadline& deadline);

  const Endpoint& endpoint() const noexcept { return endpoint_; }
  std::size_t open() const;

 private:
  void give_back(std::unique_ptr<Connection> connection);
  ClientResult<Lease> connect(std::unique_lock<std::mutex>& lock,
                              const runtime::Deadline& deadline);

  const ConnectOptions options_;
  const Endpoint endpoint_;
  const std::size_t connections_max_;
  Log* const log_;

  mutable std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Connection>> idle_;  // guarded by mutex_
  std::size_t open_ = 0;                           // guarded by mutex_; idle, lent or connecting
  runtime::Backoff backoff_;                       // guarded by mutex_
  std::optional<runtime::Deadline> pause_;         // guarded by mutex_; no attempt before it passed
  bool probing_ = false;  // guarded by mutex_; one caller tries to reach a lost node
  Error last_problem_;    // guarded by mutex_
};

}  // namespace penstock::store::redis
