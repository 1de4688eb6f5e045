#include "store/embedded/engine.h"

#include "base/check.h"
#include "store/embedded/disk_space.h"
#include "store/embedded/errors.h"

namespace penstock::store::embedded {
namespace {

// Often enough that clients notice no more than a retry, seldom enough that a broken disk is left
// in peace.
constexpr Seconds kMendInterval{1};

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
  return engine;
}

Engine::~Engine() {
  // Never after a failure: RocksDB takes a second call on a log that failed for a bug, and aborts.
  if (options_.relaxed_durability && check()) {
    database_->db().FlushWAL(/*sync=*/true).PermitUncheckedError();
  }
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
  const rocksdb::Status status = database_->db().Write(write, &batch);
  if (status.ok()) return {};
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
