#include "store/postgres/changes.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "base/check.h"
#include "runtime/thread_name.h"

namespace penstock::store::postgres {

Changes::Changes(Pool& pool, ItemNews& items, ConnectOptions options, Millis deadline,
                 std::uint64_t seed, Log* log)
    : pool_(pool),
      items_(items),
      options_(std::move(options)),
      deadline_(deadline),
      log_(log),
      backoff_(seed),
      wake_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { run(); }) {
  PENSTOCK_CHECK(wake_fd_ >= 0);
}

Changes::~Changes() {
  stopping_ = true;
  ::eventfd_write(wake_fd_, 1);
  thread_.join();
  ::close(wake_fd_);
}

void Changes::subscribe(Listener listener) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
}

Result<void> Changes::flush_everywhere() {
  const runtime::Deadline deadline(deadline_);
  auto lease = pool_.acquire(deadline);
  if (!lease) return std::unexpected(std::move(lease.error().error));
  auto sent = (*lease)->run({.sql = statement("notify"), .params = Params().text("")}, deadline);
  if (!sent) return std::unexpected(std::move(sent.error().error));
  return {};
}

void Changes::tell(const std::optional<ConfigName>& changed) {
  const std::lock_guard lock(mutex_);
  if (listener_) listener_(changed);
}

void Changes::pause(Millis duration) {
  pollfd descriptor{.fd = wake_fd_, .events = POLLIN, .revents = 0};
  ::poll(&descriptor, 1, static_cast<int>(duration.count()));
}

DatabaseResult<std::unique_ptr<Connection>> Changes::listen() {
  const runtime::Deadline deadline(deadline_);
  auto connection = Connection::open(options_, deadline);
  if (!connection) return connection;
  if (auto done =
          (*connection)->script("LISTEN penstock_slot_config; LISTEN penstock_item", deadline);
      !done) {
    return std::unexpected(std::move(done.error()));
  }
  return connection;
}

DatabaseError Changes::follow(Connection& connection) {
  runtime::Deadline tick(Millis::zero());
  while (!stopping_) {
    if (tick.passed()) {
      if (auto alive = give_back(connection); !alive) return std::move(alive.error());
      if (auto alive = fold_counts(connection); !alive) return std::move(alive.error());
      tick = runtime::Deadline(kTick);
    }
    auto news = connection.notification(wake_fd_, tick);
    if (!news) return std::move(news.error());
    if (!*news) continue;
    std::string& payload = (*news)->payload;
    if ((*news)->channel == ItemNews::kChannel) {
      items_.heard(payload);
    } else {
      // An empty name is a request to forget everything.
      tell(payload.empty() ? std::nullopt : std::optional(ConfigName::trusted(std::move(payload))));
    }
  }
  return {};
}

DatabaseResult<void> Changes::give_back(Connection& connection) {
  const auto given = connection.run({.sql = statement("give_back")}, runtime::Deadline(deadline_));
  if (!given && connection.broken()) return std::unexpected(given.error());
  if (log_ == nullptr) return {};
  if (!given) {
    log_->warn("postgres.give_back_failed", {{"error", given.error().error.what}});
  } else if (const std::int64_t batches = given->int8(0, 0); batches > 0) {
    log_->info("postgres.gave_back", {{"batches", batches}});
  }
  return {};
}

DatabaseResult<void> Changes::fold_counts(Connection& connection) {
  const auto folded =
      connection.run({.sql = statement("fold_counts")}, runtime::Deadline(deadline_));
  if (!folded && connection.broken()) return std::unexpected(folded.error());
  if (!folded && log_ != nullptr) {
    log_->warn("postgres.fold_counts_failed", {{"error", folded.error().error.what}});
  }
  return {};
}

void Changes::run() {
  runtime::set_thread_name("pg-listen");
  while (!stopping_) {
    auto connection = listen();
    if (!connection) {
      pause(backoff_.next());
      continue;
    }
    backoff_.reset();
    tell(std::nullopt);
    items_.missed();
    const DatabaseError ended = follow(**connection);
    if (!stopping_ && log_ != nullptr) {
      log_->warn("postgres.listener_lost", {{"error", ended.error.what}});
    }
  }
}

}  // namespace penstock::store::postgres
