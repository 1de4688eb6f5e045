// The connections of one node to one engine: a few, lent to one caller at a time. A thread of the
// pool opens them when callers wait, so that a slow handshake or a slow look-up of a name costs a
// caller no more than its own deadline. While the engine is away that thread goes on knocking, at
// growing intervals, and every caller fails at once. Thread-safe.
//
// A `Connection` says: `Options`; `kEngine`, its name in logs and messages; `open(options,
// deadline)`; `broken()`; `still_open()`.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "engine/sql/errors.h"
#include "runtime/clocks.h"
#include "runtime/connection_health.h"

namespace penstock::store {

template <class Connection>
class ConnectionPool {
 public:
  using Options = typename Connection::Options;
  // Looks at a new connection before it is lent; what it returns counts as "away".
  using Admit = std::function<DatabaseResult<void>(Connection&, const runtime::Deadline&)>;

  struct Settings {
    std::size_t connections_max = 4;
    Millis connect_limit = Seconds{2};  // of one attempt to open a connection
    std::uint64_t seed = 0;             // of the pauses between attempts
    Admit admit = {};
  };

  // A borrowed connection; goes back by itself, or away when it broke.
  class Lease {
   public:
    Lease(ConnectionPool& pool, std::unique_ptr<Connection> connection) noexcept
        : pool_(&pool), connection_(std::move(connection)) {}
    Lease(Lease&&) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (connection_) pool_->give_back(std::move(connection_));
    }
    Connection* operator->() const noexcept { return connection_.get(); }
    Connection& operator*() const noexcept { return *connection_; }

   private:
    ConnectionPool* pool_;
    std::unique_ptr<Connection> connection_;
  };

  // `log` may be null; else it must outlive the pool.
  ConnectionPool(Options options, Settings settings, Log* log)
      : options_(std::move(options)),
        settings_(std::move(settings)),
        log_(log),
        backoff_(settings_.seed) {
    PENSTOCK_CHECK(settings_.connections_max > 0);
    opener_ = std::thread([this] { open_all(); });
  }
  ConnectionPool(const ConnectionPool&) = delete;
  ConnectionPool& operator=(const ConnectionPool&) = delete;
  ~ConnectionPool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wanted_.notify_all();
    opener_.join();
  }

  // Waits for a free connection at most until the deadline; `unavailable` when there is none, at
  // once when the engine was found away.
  DatabaseResult<Lease> acquire(const runtime::Deadline& deadline) {
    std::unique_lock lock(mutex_);
    for (;;) {
      while (!idle_.empty()) {
        std::unique_ptr<Connection> connection = std::move(idle_.back());
        idle_.pop_back();
        if (connection->still_open()) return Lease(*this, std::move(connection));
        --open_;  // closed by the engine while it lay here; nothing of ours was lost
        ++reconnects_;
      }
      if (away_ && nobody_holds_one()) return std::unexpected(away());
      const Millis left = deadline.remaining();
      if (left == Millis::zero()) return std::unexpected(none_free());
      ++waiting_;
      wanted_.notify_one();
      returned_.wait_for(lock, left);
      --waiting_;
    }
  }

  // How often connections had to be opened after the engine was lost; a change tells that another
  // server may stand behind the same address now.
  std::uint64_t reconnects() const {
    const std::lock_guard lock(mutex_);
    return reconnects_;
  }
  std::size_t open() const {
    const std::lock_guard lock(mutex_);
    return open_;
  }

 private:
  using Opened = DatabaseResult<std::unique_ptr<Connection>>;

  static std::string named(std::string_view rest) {
    return std::string(Connection::kEngine) + std::string(rest);
  }

  // The four below: mutex_ is held.
  // Else one may come back: an engine that has no room for one more still serves the others.
  bool nobody_holds_one() const { return open_ == (opening_ ? 1U : 0U); }
  DatabaseError away() const {
    return {.error = {.kind = last_problem_.kind,
                      .what = last_problem_.what,
                      .retry_after = std::max(pause_.remaining(), runtime::Backoff::kFirst)}};
  }
  DatabaseError none_free() const {
    return {.error = {.kind = ErrorKind::unavailable,
                      .what = opening_
                                  ? named(" did not take a new connection in time")
                                  : "all connections to " + named(" are busy; it is too slow")}};
  }
  bool wants_more() const { return waiting_ > idle_.size() && open_ < settings_.connections_max; }

  void give_back(std::unique_ptr<Connection> connection) {
    {
      const std::lock_guard lock(mutex_);
      if (connection->broken()) {
        --open_;
        ++reconnects_;
      } else {
        idle_.push_back(std::move(connection));
      }
    }
    returned_.notify_one();
    wanted_.notify_one();  // whoever waits may need a new one in place of the broken one
  }

  void open_all() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wanted_.wait(lock, [this] { return stopping_ || away_ || wants_more(); });
      if (away_) {
        wanted_.wait_for(lock, pause_.remaining(), [this] { return stopping_; });
      }
      if (stopping_) return;
      if (open_ >= settings_.connections_max) continue;
      ++open_;
      opening_ = true;
      lock.unlock();
      Opened connection = open_one();
      lock.lock();
      opening_ = false;
      if (connection) {
        take(std::move(*connection));
      } else {
        --open_;
        give_up(std::move(connection.error().error));
      }
    }
  }

  Opened open_one() {
    const runtime::Deadline deadline(settings_.connect_limit);
    Opened connection = Connection::open(options_, deadline);
    if (connection && settings_.admit) {
      PENSTOCK_TRY(settings_.admit(**connection, deadline));
    }
    return connection;
  }

  // The two below: mutex_ is held.
  void take(std::unique_ptr<Connection> connection) {
    if (away_) {
      if (log_ != nullptr) log_->info(named(".back"));
      ++reconnects_;
    }
    away_ = false;
    backoff_.reset();
    idle_.push_back(std::move(connection));
    returned_.notify_one();
  }
  void give_up(Error problem) {
    if (!away_ && log_ != nullptr) log_->warn(named(".away"), {{"error", problem.what}});
    away_ = true;
    last_problem_ = std::move(problem);
    pause_ = runtime::Deadline(backoff_.next());
    returned_.notify_all();  // those who wait should hear that there will be none
  }

  const Options options_;
  const Settings settings_;
  Log* const log_;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable returned_;
  std::condition_variable wanted_;
  std::vector<std::unique_ptr<Connection>> idle_;
  std::size_t open_ = 0;  // idle, lent or opening
  std::size_t waiting_ = 0;
  std::uint64_t reconnects_ = 0;
  runtime::Backoff backoff_;
  runtime::Deadline pause_{Millis::zero()};  // no attempt before it passed
  bool away_ = false;                        // the last attempt failed
  bool opening_ = false;
  bool stopping_ = false;
  Error last_problem_;
  std::thread opener_;
};

}  // namespace penstock::store
