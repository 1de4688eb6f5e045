#include "engine/rocksdb/engine.h"

#include <rocksdb/transaction_log.h>

#include "base/check.h"
#include "engine/rocksdb/folder.h"

namespace penstock::store::embedded {
namespace {

// Often enough that clients notice no more than a retry, seldom enough that a broken disk is left
// in peace.
constexpr Seconds kMendInterval{1};

// What a lost log may take unnoticed. One small file a second is nothing beside the log.
constexpr Seconds kSealInterval{1};

}  // namespace

Result<std::unique_ptr<Engine>> Engine::open(const EngineOptions& options, const Clock& clock) {
  FolderLock lock = PENSTOCK_TRY(FolderLock::take(options.dir));
  std::unique_ptr<Database> database = PENSTOCK_TRY(Database::open(options, clock));
  std::unique_ptr<Engine> engine(new Engine(options, clock, std::move(lock)));
  engine->database_ = std::move(database);
  PENSTOCK_TRY(engine->begin_sealing());
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
  const std::optional<std::uint64_t> epoch = PENSTOCK_TRY(database_->epoch());
  const Result<std::optional<Seal>> before = read_seal(options_.dir);
  if (!before && !options_.accept_loss) return std::unexpected(before.error());
  const bool has_seal = before && *before && (*before)->sequence > 0 && !options_.accept_loss;
  if (epoch && has_seal) {
    sealed_ = **before;
  } else {
    // The file first: a database that says that it is sealed has one.
    sealed_ = {.epoch = static_cast<std::uint64_t>(clock_.now().time_since_epoch().count())};
    PENSTOCK_TRY(write_seal(options_.dir, sealed_));
    PENSTOCK_TRY(database_->write_epoch(sealed_.epoch));
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
    const View view = PENSTOCK_TRY(this->view());
    const std::lock_guard lock(commit_mutex_);
    // A write that failed may have begun a new log, which then does not hold the last good one.
    PENSTOCK_TRY(check());
    next.sequence = acknowledged_;
    if (next.sequence > recovered_) {
      std::unique_ptr<rocksdb::LogFile> log;
      PENSTOCK_TRY(view.check(view.db().GetCurrentWalFile(&log), "read the log's number"));
      next.log = log->LogNumber();
    }
  }
  if (next == sealed_) return {};
  PENSTOCK_TRY(write_seal(options_.dir, next));
  sealed_ = next;
  return {};
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
  PENSTOCK_TRY(check());
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

void Engine::note(const Error& error) {
  if (error.kind != ErrorKind::corrupt) return;
  const std::lock_guard lock(mutex_);
  if (damage_.empty()) damage_ = error.what;
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
  PENSTOCK_TRY(check_disk_space(options_.dir));

  PENSTOCK_TRY(reopen(state.error()));
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
