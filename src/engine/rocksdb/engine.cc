#include "engine/rocksdb/engine.h"

#include <rocksdb/transaction_log.h>

#include "base/check.h"
#include "engine/rocksdb/disk_space.h"
#include "engine/rocksdb/errors.h"

namespace penstock::store::embedded {
namespace {

// Often enough that clients notice no more than a retry, seldom enough that a broken disk is left
// in peace.
constexpr Seconds kMendInterval{1};

// What a lost log may take unnoticed. One small file a second is nothing beside the log.
constexpr Seconds kSealInterval{1};

}  // namespace

Error Engine::View::translate(const rocksdb::Status& status, std::string_view doing) const {
  return engine_->noted(embedded::translate(status, engine_->options_.dir, doing));
}

Error Engine::View::in_folder(Error error) const {
  return engine_->noted(embedded::in_folder(std::move(error), engine_->options_.dir));
}

Result<std::unique_ptr<Engine>> Engine::open(const EngineOptions& options, const Clock& clock) {
  Result<FolderLock> lock = FolderLock::take(options.dir);
  if (!lock) return std::unexpected(std::move(lock.error()));
  Result<std::unique_ptr<Database>> database = Database::open(options, clock);
  if (!database) return std::unexpected(std::move(database.error()));
  std::unique_ptr<Engine> engine(new Engine(options, clock, std::move(*lock)));
  engine->database_ = std::move(*database);
  if (Result<void> sealed = engine->begin_sealing(); !sealed) {
    return std::unexpected(std::move(sealed.error()));
  }
  engine->sealer_ = std::make_unique<runtime::Ticker>(
      "sealer", kSealInterval, [engine = engine.get()](const auto&) {
        static_cast<void>(engine->seal());  // the next second tries again
      });
  return engine;
}

Engine::~Engine() {
  sealer_.reset();
  // Never after a failure: RocksDB takes a second call on a log that failed for a bug, and aborts.
  if (options_.relaxed_durability && check() && database_->db().FlushWAL(/*sync=*/true).ok()) {
    acknowledged_ = database_->db().GetLatestSequenceNumber();
  }
  static_cast<void>(seal());  // the older seal holds as well
}

Result<void> Engine::begin_sealing() {
  const Result<std::optional<std::uint64_t>> epoch = database_->epoch();
  if (!epoch) return std::unexpected(epoch.error());
  const Result<std::optional<Seal>> before = read_seal(options_.dir);
  if (!before && !options_.accept_loss) return std::unexpected(before.error());
  const bool has_seal = before && *before && (*before)->sequence > 0 && !options_.accept_loss;
  if (*epoch && has_seal) {
    sealed_ = **before;
  } else {
    // The file first: a database that says that it is sealed has one.
    sealed_ = {.epoch = static_cast<std::uint64_t>(clock_.now().time_since_epoch().count())};
    if (Result<void> begun = write_seal(options_.dir, sealed_); !begun) return begun;
    if (Result<void> marked = database_->write_epoch(sealed_.epoch); !marked) return marked;
  }
  note_recovered(*database_);
  return seal();
}

void Engine::note_recovered(const Database& database) {
  const std::lock_guard lock(commit_mutex_);
  recovered_ = acknowledged_ = database.db().GetLatestSequenceNumber();
}

Result<void> Engine::seal() {
  const std::lock_guard seal_lock(seal_mutex_);
  Seal next{.epoch = sealed_.epoch};
  {
    const Result<View> view = this->view();
    if (!view) return std::unexpected(view.error());
    const std::lock_guard lock(commit_mutex_);
    // A write that failed may have begun a new log, which then does not hold the last good one.
    if (Result<void> able = check(); !able) return able;
    next.sequence = acknowledged_;
    if (next.sequence > recovered_) {
      std::unique_ptr<rocksdb::LogFile> log;
      const rocksdb::Status status = view->db().GetCurrentWalFile(&log);
      if (!status.ok()) return std::unexpected(view->translate(status, "read the log's number"));
      next.log = log->LogNumber();
    }
  }
  if (next == sealed_) return {};
  Result<void> written = write_seal(options_.dir, next);
  if (written) sealed_ = next;
  return written;
}

Result<Engine::View> Engine::view() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !reopening_; });
  if (!database_) {
    PENSTOCK_CHECK(failure_);
    return std::unexpected(*failure_);
  }
  ++views_;
  return View(*this);
}

void Engine::leave() noexcept {
  const std::lock_guard lock(mutex_);
  if (--views_ == 0) changed_.notify_all();
}

Result<void> Engine::commit(rocksdb::WriteBatch& batch) {
  if (Result<void> able = check(); !able) return able;
  rocksdb::WriteOptions write;
  write.sync = !options_.relaxed_durability;
  // Only the committing thread replaces database_, so it needs no view.
  const std::lock_guard lock(commit_mutex_);
  const rocksdb::Status status = database_->db().Write(write, &batch);
  if (status.ok()) {
    if (write.sync) acknowledged_ = database_->db().GetLatestSequenceNumber();
    return {};
  }
  Error error = translate(status, options_.dir, "write");
  set_failure(error);
  return std::unexpected(std::move(error));
}

Result<void> Engine::check() const {
  const std::lock_guard lock(mutex_);
  if (failure_) return std::unexpected(*failure_);
  if (std::optional<Error> failure = database_->background_failure()) {
    return std::unexpected(std::move(*failure));
  }
  return {};
}

Error Engine::noted(Error error) {
  if (error.kind != ErrorKind::corrupt) return error;
  const std::lock_guard lock(mutex_);
  if (damage_.empty()) damage_ = error.what;
  return error;
}

std::string Engine::damage() const {
  const std::lock_guard lock(mutex_);
  return damage_;
}

void Engine::set_failure(Error failure) {
  const std::lock_guard lock(mutex_);
  failure_ = std::move(failure);
}

Result<bool> Engine::mend() {
  const Result<void> state = check();
  if (state) return false;
  // Reopening does not bring back lost bytes, and would let writes through until the next reader
  // stumbles over them.
  if (state.error().kind == ErrorKind::corrupt) return std::unexpected(state.error());
  const Instant now = clock_.now();
  // A clock that was set back does not hold the next try up.
  if (last_mend_ && now >= *last_mend_ && now - *last_mend_ < kMendInterval) {
    return std::unexpected(state.error());
  }
  last_mend_ = now;
  if (Result<void> space = check_disk_space(options_.dir); !space)
    return std::unexpected(std::move(space.error()));

  if (Result<void> reopened = reopen(state.error()); !reopened) {
    return std::unexpected(std::move(reopened.error()));
  }
  return true;
}

Result<void> Engine::reopen(const Error& failure) {
  {
    std::unique_lock lock(mutex_);
    failure_ = failure;  // so that check() need not ask a database that is about to go
    reopening_ = true;
    changed_.wait(lock, [this] { return views_ == 0; });
  }
  database_.reset();  // nobody else looks at it while reopening_ is set
  Result<std::unique_ptr<Database>> reopened = Database::open(options_, clock_);
  if (reopened) note_recovered(**reopened);
  // A database that opens but does not take a write is for reading only.
  Result<void> writable =
      reopened ? (*reopened)->write_schema() : std::unexpected(reopened.error());
  {
    const std::lock_guard lock(mutex_);
    if (reopened) database_ = std::move(*reopened);
    if (writable) {
      failure_.reset();
    } else {
      failure_ = writable.error();
    }
    reopening_ = false;
  }
  changed_.notify_all();
  return writable;
}

}  // namespace penstock::store::embedded
