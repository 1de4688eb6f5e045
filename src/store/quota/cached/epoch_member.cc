#include "store/quota/cached/epoch_member.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace penstock::store::cached {
namespace {

// Who waits for an epoch to be settled looks so often.
constexpr Millis kHelpPause{5};

// Ours ends before the ledger thinks that it does, should clocks differ in speed.
Millis own_term(Millis term) { return term * 9 / 10; }

}  // namespace

EpochMember::EpochMember(QuotaLedger& ledger, QuotaCache& cache, CacheOptions options,
                         std::uint64_t seed, Log* log)
    : ledger_(ledger),
      cache_(cache),
      options_(std::move(options)),
      log_(log),
      name_(options_.node + "-" + std::to_string(mix64(seed))),
      seen_(ledger),
      rng_(mix64(seed + 1)),
      next_look_(Millis{0}),
      pause_(options_.pause_first),
      term_(Millis{0}) {
  thread_ = std::thread([this] { run(); });
}

EpochMember::~EpochMember() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    key_.epoch = 0;
  }
  changed_.notify_all();
  thread_.join();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return uses_ == 0; });
  lock.unlock();
  // What cannot be written now is for others to take for used: then our term has to pass.
  if (seen_.flush()) static_cast<void>(ledger_.leave(name_));
}

std::optional<EpochMember::Use> EpochMember::use() {
  const std::lock_guard lock(mutex_);
  if (key_.epoch == 0 || term_.passed()) return std::nullopt;
  ++uses_;
  return Use(*this, key_);
}

void EpochMember::end_use() {
  {
    const std::lock_guard lock(mutex_);
    --uses_;
  }
  changed_.notify_all();
}

bool EpochMember::in_term(std::int64_t epoch) {
  const std::lock_guard lock(mutex_);
  return term_of_ == epoch && !term_.passed();
}

void EpochMember::note_away(std::string_view error) {
  {
    const std::lock_guard lock(mutex_);
    if (away_) return;
    away_ = true;
  }
  if (log_ != nullptr) log_->warn("gateway.cache_away", {{"error", error}});
}

void EpochMember::lose(std::int64_t epoch, const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    if (lost_ < epoch) {
      lost_ = epoch;
      sees_cache_ = false;
      if (key_.epoch == epoch) key_.epoch = 0;
      if (joined_.seconds() * 1000 > static_cast<double>(options_.pause_longest.count())) {
        pause_ = options_.pause_first;
      }
      next_look_ = runtime::Deadline(pause_);
      pause_ = std::min(pause_ * 2, options_.pause_longest);
      wanted_ = true;
    }
  }
  note_away(error.what);
  leave(epoch);
  changed_.notify_all();
}

// Nothing of `epoch` is asked of the cache any more, by this node.
void EpochMember::leave(std::int64_t epoch) {
  const std::lock_guard alone(leaving_);
  if (left_ >= epoch) return;
  {
    std::unique_lock lock(mutex_);
    lost_ = std::max(lost_, epoch);
    if (key_.epoch == epoch) key_.epoch = 0;
    changed_.wait(lock, [&] { return uses_ == 0; });
  }
  // The ledger cannot be reached: the thread tries again, and others wait until our term is over.
  if (!seen_.flush()) return;
  if (ledger_.close(epoch, name_)) left_ = epoch;
}

void EpochMember::help() {
  {
    const std::unique_lock alone(helping_, std::try_to_lock);
    if (alone.owns_lock()) {
      const Result<CacheEpoch> state = ledger_.state();
      bool sees = false;
      {
        const std::lock_guard lock(mutex_);
        sees = sees_cache_ && lost_ < state.value_or(CacheEpoch{}).number;
        wanted_ = wanted_ || sees;
      }
      // Somebody else's cache works and ours does not: then it is of use to nobody.
      if (state && !state->settled && !(state->open && sees)) {
        static_cast<void>(ledger_.close(state->number, {}));
      }
    }
  }
  changed_.notify_all();
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kHelpPause);
}

Result<void> EpochMember::block(core::UserId user) { return take_out(user, Extent::everything, 0); }

Result<void> EpochMember::forget(core::UserId user, std::optional<std::int64_t> window) {
  return take_out(user, window ? Extent::before_window : Extent::before_now, window.value_or(0));
}

Result<void> EpochMember::take_out(core::UserId user, Extent extent, std::int64_t window) {
  const runtime::Deadline deadline(options_.patience);
  for (;;) {
    const CacheEpoch state = PENSTOCK_TRY(ledger_.state());
    if (state.settled) return {};
    if (state.open) {
      std::optional<std::int64_t> first;  // that is good again
      if (extent == Extent::before_window) first = window;
      if (extent == Extent::before_now) first = state.at.time_since_epoch().count();
      const Result<void> forgotten = cache_.forget(user, first);
      if (forgotten) return {};
      lose(state.number, forgotten.error());
    }
    if (deadline.passed()) {
      return fail(ErrorKind::unavailable, "the gateway's cache cannot be closed");
    }
    help();
  }
}

void EpochMember::run() {
  runtime::Deadline next_beat(Millis{0});
  runtime::Deadline next_flow(options_.flow_back);
  for (;;) {
    bool wanted = false;
    {
      std::unique_lock lock(mutex_);
      const Millis pause = std::min(next_beat.remaining(), next_flow.remaining());
      changed_.wait_for(lock, pause, [&] { return stopping_ || wanted_; });
      if (stopping_) return;
      wanted = std::exchange(wanted_, false);
    }
    if (next_flow.passed()) {
      static_cast<void>(seen_.flush());
      next_flow = runtime::Deadline(options_.flow_back);
    }
    if (next_beat.passed() || wanted) {
      look_for_cache();
      beat();
      next_beat = runtime::Deadline(options_.beat);
    }
  }
}

void EpochMember::look_for_cache() {
  {
    const std::lock_guard lock(mutex_);
    if (sees_cache_ || !next_look_.passed()) return;
  }
  const Result<void> there = cache_.probe();
  if (!there) return note_away(there.error().what);
  const std::lock_guard lock(mutex_);
  sees_cache_ = true;
}

void EpochMember::beat() {
  bool sees = false;
  std::int64_t using_epoch = 0;
  std::int64_t lost = 0;
  {
    const std::lock_guard lock(mutex_);
    sees = sees_cache_;
    using_epoch = key_.epoch;
    lost = lost_;
  }
  const runtime::Deadline term(own_term(options_.term));
  const Result<CacheEpoch> epoch = ledger_.beat(name_, sees, options_.term);
  if (!epoch) return;
  if (using_epoch != 0 && (using_epoch != epoch->number || !epoch->open)) {
    note_away("another node found it failing");
    leave(using_epoch);
  }
  if (epoch->open) {
    // An epoch in which this node would have to charge past the cache is of use to nobody.
    if (!sees || epoch->number <= lost) return leave(epoch->number);
    if (epoch->joined) join(*epoch, term);
  } else if (!epoch->settled) {
    leave(epoch->number);
    static_cast<void>(ledger_.close(epoch->number, {}));
  } else if (sees) {
    open(*epoch);
  }
}

void EpochMember::open(const CacheEpoch& last) {
  // Nobody else's, whatever the numbers of epochs do.
  const std::string token = "after " + std::to_string(last.number) + " drawn " +
                            std::to_string(rng_()) + " " + std::to_string(rng_());
  if (const Result<void> begun = cache_.begin(token); !begun) {
    note_away(begun.error().what);
    const std::lock_guard lock(mutex_);
    sees_cache_ = false;
    return;
  }
  const runtime::Deadline term(own_term(options_.term));
  const Result<CacheEpoch> opened = ledger_.open(last.number, name_, token, options_.term);
  if (opened && opened->joined) join(*opened, term);
}

void EpochMember::join(const CacheEpoch& epoch, const runtime::Deadline& term) {
  bool back = false;
  {
    const std::lock_guard lock(mutex_);
    if (epoch.number <= lost_ || stopping_) return;
    if (key_.epoch != epoch.number) joined_ = runtime::Stopwatch();
    key_ = {.epoch = epoch.number, .token = epoch.token};
    term_of_ = epoch.number;
    term_ = term;
    back = std::exchange(away_, false);
  }
  if (back && log_ != nullptr) log_->info("gateway.cache_back", {{"epoch", epoch.number}});
}

void SeenCounts::keep_newer(Entries& entries, const Entry& entry) {
  const auto [found, added] = entries.try_emplace(entry.seen.user, entry);
  if (added) return;
  CountSeen& there = found->second.seen;
  // Windows are named in the order of their beginnings.
  const bool newer = entry.seen.window != there.window ? entry.seen.window > there.window
                                                       : entry.seen.version > there.version;
  if (newer) found->second = entry;
}

void SeenCounts::add(std::int64_t epoch, const CountSeen& seen, const runtime::Stopwatch& read) {
  const std::lock_guard lock(mutex_);
  if (epoch < epoch_) return;
  if (epoch > epoch_) entries_.clear();
  epoch_ = epoch;
  keep_newer(entries_, {.seen = seen, .read = read});
}

Result<void> SeenCounts::flush() {
  const std::lock_guard alone(flushing_);
  Entries entries;
  std::int64_t epoch = 0;
  {
    const std::lock_guard lock(mutex_);
    entries.swap(entries_);
    epoch = epoch_;
  }
  std::vector<CountSeen> batch;
  for (auto next = entries.begin(); next != entries.end();) {
    batch.clear();
    auto end = next;
    for (; end != entries.end() && batch.size() < kBatchMax; ++end) {
      batch.push_back(end->second.seen);
      batch.back().age = Micros{static_cast<std::int64_t>(end->second.read.seconds() * 1e6) + 1};
    }
    if (Result<void> written = ledger_.flow_back(epoch, batch); !written) {
      const std::lock_guard lock(mutex_);
      if (epoch == epoch_) {
        for (; next != entries.end(); ++next) keep_newer(entries_, next->second);
      }
      return written;
    }
    next = end;
  }
  return {};
}

}  // namespace penstock::store::cached
