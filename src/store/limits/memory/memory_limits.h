// The limits of one process, in memory. Decides on the calling thread; waits for nothing but the
// locks of the stripes that its keys fall into. Thread-safe.
//
// Full (max_keys), a new key takes another's place in its own stripe: the first idle one of 16 in
// turn; else, of those 16, the one with the smallest share of its capacity in use, the one charged
// longest ago among equals. A key at its limit (one that denies a cost of 1) goes only if 128 in
// turn all are. So a flood of new keys pushes out what was used least, each key pushed out being
// worth at most the share it had used, and whoever is denied stays denied unless nearly all are.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/limits/decide.h"
#include "store/limits/memory/key_hash.h"
#include "store/limits/memory/stripe.h"
#include "store/limits/ports.h"

namespace penstock::store::memory {

inline constexpr std::size_t kChecksMax = 64;  // of one request
inline constexpr std::size_t kGroup = 16;      // decisions whose memory is asked for ahead

struct MemoryOptions {
  std::size_t max_keys = 2'000'000;
  // Of exact logs, an equal share for each stripe, and never less than two full logs. Beyond, those
  // that are charged get coarse (16 entries): they count some costs too long and admit nothing
  // more.
  std::size_t log_bytes_max = 256 << 20;
  // Remembers what changed for collect_changes(), which somebody then has to call.
  bool track_changes = false;
  std::optional<std::uint64_t> hash_seed = {};  // empty = drawn from the machine's randomness
};

struct MemoryUse {
  std::size_t keys = 0;
  std::size_t bytes = 0;      // of the table
  std::size_t log_bytes = 0;  // of the exact logs
  std::uint64_t dropped = 0;  // idle keys, since the start
  std::uint64_t evicted = 0;  // keys that still said something
};

enum class Collect : std::uint8_t {
  all,
  // Leaves out keys whose use has drained by now, until they are used again or `all` are collected:
  // such a key decides as a new one does, so nothing but the count of its window, which is for
  // people, would be lost. Short limits under load are nearly all of this kind.
  in_use,
};

// One key of decide_keys().
struct KeyCharge {
  std::string_view key;
  const core::Limit* limit;
  std::int64_t cost;
};

// A key with the place where it was found last, for a caller who asks for it again and again: he
// waits neither for its hash nor for a search. Of one MemoryLimits, which outlives it. Safe on any
// thread.
class PlacedKey {
 public:
  std::string_view text() const noexcept { return text_; }

 private:
  friend class MemoryLimits;
  PlacedKey(std::string_view text, std::uint64_t hash, Stripe& stripe)
      : stripe_(stripe), hash_(hash), text_(text) {}

  Stripe& stripe_;
  const std::uint64_t hash_;
  Stripe::Place place_ = 0;  // guarded by the stripe's lock
  const std::string text_;
};

class MemoryLimits final : public LimitStore {
 public:
  // `clock` outlives this.
  MemoryLimits(const MemoryOptions& options, const Clock& clock);
  ~MemoryLimits() override;

  void apply(std::span<const LimitRequest> requests, std::optional<Instant> now,
             std::span<Result<LimitAnswer>> answers) override;
  // As apply() about one check that is no shadow, without its ceremony: for callers in this
  // process. The key has from 1 to 512 bytes. `now()` is called once, with a lock held.
  //
  // Answers `usual(FastCharge)` in the usual case, a known bucket that admits, and
  // `other(LimitStatus)` in all others: the caller makes of it what he needs without a status in
  // between, which would go through memory and cost as much as the decision.
  template <class Now, class Usual, class Other>
  [[gnu::always_inline]] auto decide_key(std::string_view key, const core::Limit& limit,
                                         std::int64_t cost, const Now& now, const Usual& usual,
                                         const Other& other) {
    return charge_key(key, limit, cost, hash_(key), now, usual, other);
  }
  // From 1 to 512 bytes.
  PlacedKey placed(std::string_view key) const {
    const std::uint64_t hash = hash_(key);
    return {key, hash, stripe_of(hash)};
  }
  // The same about such a key. `find_limit()` is called with the key's lock held and says the
  // limit, valid while it is held; null: nothing happens, and without the lock `none()` answers.
  template <class FindLimit, class Now, class Usual, class Other, class None>
  [[gnu::always_inline]] auto decide_key(PlacedKey& key, const FindLimit& find_limit,
                                         std::int64_t cost, const Now& now, const Usual& usual,
                                         const Other& other, const None& none) {
    Stripe& stripe = key.stripe_;
    stripe.lock.lock();
    const core::Limit* const limit = find_limit();
    if (limit == nullptr) [[unlikely]] {
      stripe.lock.unlock();
      return none();
    }
    Entry* entry = stripe.find_at(key.place_, pool_);
    if (entry == nullptr) [[unlikely]]
      entry = find_anew(stripe, key);
    return charge_entry(stripe, entry, key.text_, *limit, cost, key.hash_, now, usual, other);
  }
  // With the lock held that guards decisions about the key.
  template <class Work>
  void with_lock(PlacedKey& key, const Work& work) {
    const std::lock_guard lock(key.stripe_.lock);
    work();
  }
  // As many as a group at most. `usual(i, FastCharge)` or `other(i, LimitStatus)` says what came of
  // charges[i].
  template <class Usual, class Other>
  void decide_keys(std::span<const KeyCharge> charges, Instant now, const Usual& usual,
                   const Other& other) {
    PENSTOCK_CHECK(charges.size() <= kGroup);
    std::array<std::uint64_t, kGroup> hashes;
    for (std::size_t i = 0; i < charges.size(); ++i) {
      hashes[i] = hash_(charges[i].key);
      __builtin_prefetch(&stripe_of(hashes[i]), 1);
    }
    prefetch(std::span(hashes).first(charges.size()));
    for (std::size_t i = 0; i < charges.size(); ++i) {
      const auto& [key, limit, cost] = charges[i];
      charge_key(
          key, *limit, cost, hashes[i], [now] { return now; },
          [&](const core::FastCharge& charge) { usual(i, charge); },
          [&](const core::LimitStatus& status) { other(i, status); });
    }
  }
  Result<bool> reset(std::string_view key) override;
  Result<std::optional<KeyUse>> find(std::string_view key, std::optional<Instant> now) override;
  // Looks at every key: for people, not for the hot path.
  Result<std::vector<KeyUse>> list(std::string_view after, std::size_t limit,
                                   std::optional<Instant> now) override;

  // Drops idle keys among the next `entries` in turn; how many went.
  std::size_t sweep(std::size_t entries, std::optional<Instant> now = {});

  // Appends what changed since it was last collected, stripe by stripe, and stops after the stripe
  // with which `limit` is reached (a stripe is some 2,000 keys). Begin with a cursor of 0; false:
  // that was the last. Of one key, what comes later is newer. One caller at a time.
  bool collect_changes(std::size_t& cursor, std::size_t limit, std::vector<SavedLimit>& out,
                       Collect what = Collect::all);
  // What was collected could not be saved: it counts as changed again.
  void put_back(std::span<const SavedLimit> unsaved);
  // Takes up what was saved, aged by the time that passed. False: it was idle by now, or the key
  // is in use already. What comes from a later time than now is taken as of now.
  Result<bool> restore(std::string_view key, std::string_view state);

  MemoryUse memory_use() const;

 private:
  Result<LimitAnswer> decide(const LimitRequest& request, std::uint64_t hash, Instant now);
  LimitAnswer decide_one(const LimitRequest& request, std::uint64_t hash, Instant now);
  template <class Now, class Usual, class Other>
  [[gnu::always_inline]] auto charge_key(std::string_view key, const core::Limit& limit,
                                         std::int64_t cost, std::uint64_t hash, const Now& now,
                                         const Usual& usual, const Other& other);
  void charge_key(std::string_view key, const core::Limit& limit, std::int64_t cost,
                  std::uint64_t hash, Instant now, core::LimitStatus& status);
  // Unlocks the stripe. `entry` is that of the key, or null.
  template <class Now, class Usual, class Other>
  [[gnu::always_inline]] auto charge_entry(Stripe& stripe, Entry* entry, std::string_view key,
                                           const core::Limit& limit, std::int64_t cost,
                                           std::uint64_t hash, const Now& now, const Usual& usual,
                                           const Other& other);
  Entry* find_anew(Stripe& stripe, PlacedKey& key) const noexcept;
  core::LimitStatus charge_locked(Stripe& stripe, Entry* entry, std::string_view key,
                                  const core::Limit& limit, std::int64_t cost, std::uint64_t hash,
                                  Instant now);
  void charge_known(Stripe& stripe, Entry& entry, const core::Limit& limit, std::int64_t cost,
                    Instant now, core::LimitStatus& status);
  void charge_new(Stripe& stripe, std::uint64_t hash, std::string_view key,
                  const core::Limit& limit, std::int64_t cost, Instant now,
                  core::LimitStatus& status);
  template <std::size_t kMax>
  class Several;
  void prefetch(std::span<const std::uint64_t> hashes) const;
  void apply_group(std::span<const LimitRequest> requests, Instant now,
                   std::span<Result<LimitAnswer>> answers);

  // The stripe comes from the highest bits of the hash, the cell from the low half.
  std::size_t stripe_index(std::uint64_t hash) const noexcept {
    return static_cast<std::size_t>(hash >> 1 >> stripes_shift_);
  }
  Stripe& stripe_of(std::uint64_t hash) const noexcept { return stripes_[stripe_index(hash)]; }
  std::uint32_t log_entries_max(const Stripe& stripe) const noexcept;
  void insert(Stripe& stripe, std::uint64_t hash, std::string_view key, std::int64_t capacity,
              core::LimitState&& state, Instant now);
  void make_room(Stripe& stripe, Instant now);
  void mark(Stripe& stripe, Entry& entry) const noexcept {
    if (!options_.track_changes || entry.dirty != 0) return;
    entry.dirty = 1;
    ++stripe.dirty;
  }
  void note_removed(Stripe& stripe, const Entry& entry);
  std::size_t drop_idle(Stripe& stripe, std::size_t entries, Instant now);
  Instant at(const std::optional<Instant>& now) const { return now ? *now : clock_.now(); }

  const MemoryOptions options_;
  const Clock& clock_;
  const KeyHash hash_;
  const std::size_t stripes_count_;  // a power of two
  const unsigned stripes_shift_;
  const std::size_t stripe_log_bytes_max_;
  ChunkPool pool_;
  const std::unique_ptr<Stripe[]> stripes_;
  std::atomic<std::size_t> sweep_stripe_ = 0;
  alignas(64) std::atomic<std::size_t> keys_ = 0;  // touched only when keys come and go
  std::atomic<std::uint64_t> dropped_ = 0;
  std::atomic<std::uint64_t> evicted_ = 0;
};

// Always inline: alone, in a group, and in the library. Only the usual case is here, a bucket that
// admits; the others stay out of its registers, and take over the lock.
template <class Now, class Usual, class Other>
[[gnu::always_inline]] inline auto MemoryLimits::charge_key(std::string_view key,
                                                            const core::Limit& limit,
                                                            std::int64_t cost, std::uint64_t hash,
                                                            const Now& now, const Usual& usual,
                                                            const Other& other) {
  Stripe& stripe = stripe_of(hash);
  stripe.lock.lock();
  Entry* const entry = stripe.find(static_cast<std::uint32_t>(hash), key, pool_);
  return charge_entry(stripe, entry, key, limit, cost, hash, now, usual, other);
}

template <class Now, class Usual, class Other>
[[gnu::always_inline]] inline auto MemoryLimits::charge_entry(
    Stripe& stripe, Entry* entry, std::string_view key, const core::Limit& limit, std::int64_t cost,
    std::uint64_t hash, const Now& now, const Usual& usual, const Other& other) {
  const Instant instant = std::max(now(), stripe.floor);
  core::FastCharge charge;
  if (entry != nullptr && core::charge_if_usual(limit, entry->state, cost, instant, charge))
      [[likely]] {
    entry->set_capacity(limit.capacity);
    mark(stripe, *entry);
    stripe.lock.unlock();
    return usual(charge);
  }
  return other(charge_locked(stripe, entry, key, limit, cost, hash, instant));
}

}  // namespace penstock::store::memory
