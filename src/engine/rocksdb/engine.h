// Keeps one database usable: hands out views for reading, commits for the one writer, remembers a
// failed write and mends by closing and reopening the database. Nothing throws.
//
// After a write has failed nobody knows whether its bytes reached the log. The engine therefore
// writes nothing more to that database; reads go on. mend() reopens it, which replays the log: the
// failed batch is then there in whole or not at all.
//
// A thread of its own seals each second what was acknowledged meanwhile (seal.h).
#pragma once

#include <rocksdb/write_batch.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "engine/rocksdb/database.h"
#include "engine/rocksdb/errors.h"
#include "engine/rocksdb/folder.h"
#include "engine/rocksdb/seal.h"
#include "runtime/threads.h"

namespace penstock::store::embedded {

class Engine {
 public:
  // While a view lives, the database it shows stays open. Keep it short: mend() waits for it.
  class View {
   public:
    View(View&& other) noexcept : engine_(std::exchange(other.engine_, nullptr)) {}
    View& operator=(View&&) = delete;
    ~View() {
      if (engine_ != nullptr) engine_->leave();
    }
    rocksdb::DB& db() const noexcept { return engine_->database_->db(); }
    rocksdb::ColumnFamilyHandle* family(Family family) const noexcept {
      return engine_->database_->family(family);
    }

    // `doing` completes "embedded store in DIR: cannot …".
    Result<void> check(const rocksdb::Status& status, std::string_view doing) const {
      return noted(embedded::check(status, engine_->options_.dir, doing));
    }
    // Puts the folder in front of a decoder's sentence.
    template <class T>
    Result<T> in_folder(Result<T> decoded) const {
      return noted(embedded::in_folder(std::move(decoded), engine_->options_.dir));
    }
    // The record at `key`, decoded; none when there is none.
    template <class Decode>
    auto find(Family family, std::string_view key, std::string_view doing, const Decode& decode,
              const rocksdb::ReadOptions& options = {}) const {
      return noted(
          find_record({.db = db(), .family = this->family(family), .dir = engine_->options_.dir},
                      key, doing, decode, options));
    }

   private:
    friend class Engine;
    explicit View(Engine& engine) noexcept : engine_(&engine) {}
    // Damage that a reader met is remembered.
    template <class T>
    Result<T> noted(Result<T> result) const {
      if (!result) [[unlikely]]
        engine_->note(result.error());
      return result;
    }
    Engine* engine_;
  };

  // `clock` must outlive the engine.
  static Result<std::unique_ptr<Engine>> open(const EngineOptions& options, const Clock& clock);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();  // syncs what relaxed durability left to the system

  // Any thread. Fails only when a reopen has failed.
  Result<View> view();

  // Atomic, and durable when it returns (unless durability is relaxed). One thread at a time.
  Result<void> commit(rocksdb::WriteBatch& batch);

  // Any thread: the failure that keeps the engine from writing, if there is one.
  Result<void> check() const;

  // Makes a failed engine work again if the disk allows it, trying at most once a second; true when
  // the database was reopened, so that what the caller remembers of it must be read anew. For the
  // thread that commits, holding no view.
  Result<bool> mend();

  // Any thread: the first damage that a reader met, empty when none did. Mending does not undo it.
  std::string damage() const;

  // Notes in the folder up to where writes were acknowledged, if that has changed. Any thread; done
  // each second and at the end. A seal that lags behind is weaker, not wrong.
  Result<void> seal();

  // Keeps the engine from writing until it is mended.
  void set_failure(Error failure);

 private:
  Engine(const EngineOptions& options, const Clock& clock, FolderLock lock)
      : options_(options), clock_(clock), lock_(std::move(lock)) {}

  void leave() noexcept;
  void note(const Error& error);
  Result<void> reopen(const Error& failure);
  Result<void> begin_sealing();
  void note_recovered(const Database& database);

  const EngineOptions options_;
  const Clock& clock_;
  const FolderLock lock_;
  std::optional<Instant> last_mend_;  // the committing thread's

  // Held during a write: while it is free, the last one is in the newest log.
  std::mutex commit_mutex_;
  // Numbers of writes, guarded by commit_mutex_: the last one that was there when the database was
  // opened, which is in tables since; and the last one that was acknowledged and is on disk.
  std::uint64_t recovered_ = 0;
  std::uint64_t acknowledged_ = 0;

  std::mutex seal_mutex_;
  Seal sealed_;  // what the file says; guarded by seal_mutex_

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t views_ = 0;                    // guarded by mutex_
  bool reopening_ = false;                   // guarded by mutex_
  std::optional<Error> failure_;             // guarded by mutex_
  std::string damage_;                       // guarded by mutex_
  std::unique_ptr<Database> database_;       // replaced under mutex_ while there are no views
  std::unique_ptr<runtime::Ticker> sealer_;  // last: it uses all of the above
};

}  // namespace penstock::store::embedded
