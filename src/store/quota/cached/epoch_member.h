// This node's part in the epochs of a cache (store/quota/quota_ledger.h). A thread of its own keeps
// the node's term, writes back what was seen, and looks for a cache that is away. Whoever finds the
// cache failing says so with lose(); then charges go past it until an epoch begins anew.
// Thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/result.h"
#include "base/rng.h"
#include "base/time.h"
#include "runtime/clocks.h"
#include "store/quota/cache_ports.h"

namespace penstock::store::cached {

// What the cache said about entries, until the ledger has it: the newest of each user. Thread-safe.
class SeenCounts {
 public:
  // `ledger` must outlive this.
  explicit SeenCounts(QuotaLedger& ledger) : ledger_(ledger) {}

  // Of `epoch`; the first one of another epoch makes those before worthless. `seen.age` is left
  // out, `read` was started before the cache was asked.
  void add(std::int64_t epoch, const CountSeen& seen, const runtime::Stopwatch& read);

  // Blocks. What could not be written waits for the next time.
  Result<void> flush();

 private:
  // One call stays well under the deadline of the store.
  static constexpr std::size_t kBatchMax = 5'000;

  struct Entry {
    CountSeen seen;
    runtime::Stopwatch read;
  };
  using Entries = std::map<core::UserId, Entry>;

  static void keep_newer(Entries& entries, const Entry& entry);

  QuotaLedger& ledger_;
  std::mutex flushing_;  // one at a time: who returns from flush() knows that all before is written
  std::mutex mutex_;
  std::int64_t epoch_ = 0;  // guarded by mutex_
  Entries entries_;         // guarded by mutex_; of epoch_
};

struct CacheOptions {
  std::string node = "node";  // for people; another name is made of it in every life
  // A node that is cut off or gone holds the others up for so long when the cache is lost.
  Millis term{500};
  Millis beat{150};  // three of them in a term
  Millis flow_back{100};
  // After an outage, doubled up to `pause_longest` while epochs do not last longer than that.
  Millis pause_first{250};
  Millis pause_longest = Seconds{30};
  Millis patience = Seconds{2};  // of a call that depends on an epoch being settled
  LeaseSize lease;
};

class EpochMember {
 public:
  // A permission to ask the cache once; the epoch is not left while it lives.
  class Use {
   public:
    Use(EpochMember& member, CacheKey key) noexcept : member_(&member), key_(std::move(key)) {}
    Use(Use&& other) noexcept
        : member_(std::exchange(other.member_, nullptr)), key_(std::move(other.key_)) {}
    Use& operator=(Use&&) = delete;
    ~Use() {
      if (member_ != nullptr) member_->end_use();
    }

    const CacheKey& key() const noexcept { return key_; }
    // Whether the term lasted until now: else what the cache answered must not be used.
    bool in_term() const { return member_->in_term(key_.epoch); }
    void saw(const CountSeen& seen) const { member_->seen_.add(key_.epoch, seen, began_); }

   private:
    EpochMember* member_;
    CacheKey key_;
    runtime::Stopwatch began_;
  };

  // All must outlive this, `log` unless it is null. Starts at once.
  EpochMember(QuotaLedger& ledger, QuotaCache& cache, CacheOptions options, std::uint64_t seed,
              Log* log);
  EpochMember(const EpochMember&) = delete;
  EpochMember& operator=(const EpochMember&) = delete;
  // Leaves in good order.
  ~EpochMember();

  // Empty: charge past the cache.
  std::optional<Use> use();
  // The cache failed in `epoch`. Holds no Use. Returns once this node has left it.
  void lose(std::int64_t epoch, const Error& error);
  // For who waits until what the cache had is settled: does what can be done for it, then waits a
  // moment.
  void help();

  // Before a config is changed: when it returns nobody charges by the cache's entry of it, until
  // forget(), or for a moment.
  Result<void> block(core::UserId user);
  // After it: nothing of a window before `window` (empty = before now) is in the cache when it
  // returns, nor comes there later.
  Result<void> forget(core::UserId user, std::optional<std::int64_t> window);

  // What this node saw is in the ledger.
  Result<void> flush() { return seen_.flush(); }
  // Whether charges go by the cache now.
  bool in_use() { return use().has_value(); }

  const CacheOptions& options() const noexcept { return options_; }

 private:
  enum class Extent : std::uint8_t { everything, before_window, before_now };

  Result<void> take_out(core::UserId user, Extent extent, std::int64_t window);
  void end_use();
  bool in_term(std::int64_t epoch);
  void run();
  void look_for_cache();
  void beat();
  void open(const CacheEpoch& last);
  void join(const CacheEpoch& epoch, const runtime::Deadline& term);
  void leave(std::int64_t epoch);
  void note_away(std::string_view error);

  QuotaLedger& ledger_;
  QuotaCache& cache_;
  const CacheOptions options_;
  Log* const log_;
  const std::string name_;
  SeenCounts seen_;
  Rng rng_;                      // of the thread
  std::mutex leaving_;           // held by who leaves an epoch
  std::mutex helping_;           // held by who helps
  std::int64_t left_ = 0;        // guarded by leaving_; this epoch and those before are left
  runtime::Deadline next_look_;  // guarded by mutex_; the cache is left alone until then
  Millis pause_;                 // guarded by mutex_; after the next outage

  std::mutex mutex_;
  std::condition_variable changed_;
  CacheKey key_;               // guarded by mutex_; epoch 0 = none
  std::int64_t term_of_ = 0;   // guarded by mutex_; the epoch that term_ is of
  runtime::Deadline term_;     // guarded by mutex_
  runtime::Stopwatch joined_;  // guarded by mutex_; since key_ was joined
  std::int64_t lost_ = 0;      // guarded by mutex_; this epoch and those before are over for us
  int uses_ = 0;               // guarded by mutex_
  bool sees_cache_ = false;    // guarded by mutex_
  bool away_ = false;          // guarded by mutex_; it was said so
  bool wanted_ = false;        // guarded by mutex_; somebody waits for the thread
  bool stopping_ = false;      // guarded by mutex_
  std::thread thread_;         // last: it uses all of the above
};

}  // namespace penstock::store::cached
