#include "store/postgres/changes.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "base/check.h"
#include "runtime/threads.h"

namespace penstock::store::postgres {
namespace {

// Done every tick: a statement, and what is logged when it failed and when it did something.
struct Duty {
  std::string_view statement;
  const char* failed;
  const char* done;
};
constexpr Duty kDuties[] = {{"give_back", "postgres.give_back_failed", "postgres.gave_back"},
                            {"fold_counts", "postgres.fold_counts_failed", nullptr}};

}  // namespace

Changes::Changes(Database database, ItemNews& items, ConnectOptions options, std::uint64_t seed,
                 Log* log)
    : database_(database),
      items_(items),
      options_(std::move(options)),
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

Result<void> Changes::flush_everywhere() { return database_.tell("notify", ""); }

void Changes::tell(const std::optional<ConfigName>& changed) {
  const std::lock_guard lock(mutex_);
  if (listener_) listener_(changed);
}

void Changes::pause(Millis duration) {
  pollfd descriptor{.fd = wake_fd_, .events = POLLIN, .revents = 0};
  ::poll(&descriptor, 1, static_cast<int>(duration.count()));
}

DatabaseResult<std::unique_ptr<Connection>> Changes::listen() {
  const runtime::Deadline deadline = database_.deadline();
  auto connection = PENSTOCK_TRY(Connection::open(options_, deadline));
  PENSTOCK_TRY(connection->script("LISTEN penstock_slot_config; LISTEN penstock_item", deadline));
  return connection;
}

DatabaseError Changes::follow(Connection& connection) {
  runtime::Deadline tick(Millis::zero());
  while (!stopping_) {
    if (tick.passed()) {
      for (const auto& [duty, failed, done] : kDuties) {
        if (auto alive = do_duty(connection, duty, failed, done); !alive) {
          return std::move(alive.error());
        }
      }
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

DatabaseResult<void> Changes::do_duty(Connection& connection, std::string_view name,
                                      const char* failed, const char* done) {
  const auto answer = connection.run(call(name), database_.deadline());
  if (!answer && connection.broken()) return std::unexpected(answer.error());
  if (log_ == nullptr) return {};
  if (!answer) {
    log_->warn(failed, {{"error", answer.error().error.what}});
  } else if (const std::int64_t batches = answer->int8(0, 0); batches > 0 && done != nullptr) {
    log_->info(done, {{"batches", batches}});
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
