#include "engine/redis/pool.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace penstock::store::redis {

Pool::Pool(ConnectOptions options, Endpoint endpoint, std::size_t connections_max,
           std::uint64_t seed, Log* log)
    : options_(std::move(options)),
      endpoint_(std::move(endpoint)),
      connections_max_(connections_max),
      log_(log),
      backoff_(seed) {
  PENSTOCK_CHECK(connections_max > 0);
}

ClientResult<Pool::Lease> Pool::acquire(const runtime::Deadline& deadline) {
  std::unique_lock lock(mutex_);
  for (;;) {
    while (!idle_.empty()) {
      std::unique_ptr<Connection> connection = std::move(idle_.back());
      idle_.pop_back();
      if (connection->still_open()) return Lease(shared_from_this(), std::move(connection));
      --open_;  // closed by the server while it lay here; nothing of ours was lost
    }
    if (open_ < connections_max_) return connect(lock, deadline);
    const Millis left = deadline.remaining();
    if (left == Millis::zero() || (returned_.wait_for(lock, left) == std::cv_status::timeout &&
                                   idle_.empty() && open_ >= connections_max_)) {
      return std::unexpected(
          ClientError{.error = {.kind = ErrorKind::unavailable,
                                .what = "all connections to redis are busy; it is too slow"}});
    }
  }
}

ClientResult<Pool::Lease> Pool::connect(std::unique_lock<std::mutex>& lock,
                                        const runtime::Deadline& deadline) {
  const bool lost = backoff_.failures() > 0;
  if (lost && (probing_ || (pause_ && !pause_->passed()))) {
    Error error = last_problem_;
    error.retry_after =
        std::max(pause_ ? pause_->remaining() : Millis{0}, runtime::Backoff::kFirst);
    return std::unexpected(ClientError{.error = std::move(error)});
  }
  if (lost) probing_ = true;
  ++open_;
  lock.unlock();
  auto connection = Connection::open(options_, endpoint_, deadline);
  lock.lock();
  if (lost) probing_ = false;
  if (connection) {
    if (backoff_.failures() > 0 && log_ != nullptr) {
      log_->info("redis.back", {{"node", endpoint_.text()}});
    }
    backoff_.reset();
    pause_.reset();
    return Lease(shared_from_this(), std::move(*connection));
  }
  --open_;
  const bool first = backoff_.failures() == 0;
  pause_.emplace(backoff_.next());
  last_problem_ = connection.error().error;
  if (first && log_ != nullptr) {
    log_->warn("redis.away", {{"node", endpoint_.text()}, {"error", last_problem_.what}});
  }
  returned_.notify_all();  // those who wait for a connection should hear that there will be none
  return std::unexpected(std::move(connection.error()));
}

void Pool::give_back(std::unique_ptr<Connection> connection) {
  {
    const std::lock_guard lock(mutex_);
    if (connection->broken()) {
      --open_;
    } else {
      idle_.push_back(std::move(connection));
    }
  }
  returned_.notify_one();
}

std::size_t Pool::open() const {
  const std::lock_guard lock(mutex_);
  return open_;
}

}  // namespace penstock::store::redis
