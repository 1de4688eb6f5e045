#include "store/limits/memory/memory_limits.h"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <utility>

#include "core/limits/decide.h"
#include "runtime/clocks.h"

namespace penstock::store::memory {
namespace {

constexpr std::size_t kStripeKeys = 2'048;  // growing an index of these takes microseconds
constexpr std::size_t kStripesMin = 64;     // so that few keys do not meet either
constexpr std::size_t kStripesMax = 65'536;
constexpr std::size_t kSweepPerInsert = 2;   // idle keys go faster than new ones come
constexpr std::size_t kSampleKeys = 16;      // see MemoryLimits
constexpr std::size_t kSampleKeysMax = 128;  // when all of those are at their limit
constexpr std::uint32_t kCoarseLogEntries = 16;
constexpr std::size_t kRemovedSpare = 256;              // small stripes are filled less evenly
constexpr std::size_t kStripeLogBytesMin = 128 * 1024;  // two full logs

std::size_t stripes_for(std::size_t max_keys) {
  const std::size_t least =
      std::min(kStripesMin, std::bit_floor(std::max<std::size_t>(max_keys / 16, 1)));
  return std::clamp(std::bit_ceil(max_keys / kStripeKeys + 1), least, kStripesMax);
}

std::uint32_t cell_hash(std::uint64_t hash) { return static_cast<std::uint32_t>(hash); }

std::unexpected<Error> bad_key() { return invalid_field("key", "must have from 1 to 512 bytes"); }
bool good_key(std::string_view key) { return !key.empty() && key.size() <= kKeyBytesMax; }

// In place: a whole Result that is built and moved costs more than a decision.
void set_answer(Result<LimitAnswer>& place, LimitAnswer answer) {
  if (place.has_value()) [[likely]] {
    *place = answer;
  } else {
    place = answer;
  }
}

// How much would be given away by forgetting it: 0 … 1023, or 1024 at the limit.
std::int64_t weight(const Entry& entry, Instant now) {
  const std::int64_t used = core::used(entry.state, now);
  const auto capacity = static_cast<std::int64_t>(entry.capacity);
  return used >= capacity ? 1'024 : used * 1'024 / capacity;
}

}  // namespace

MemoryLimits::MemoryLimits(const MemoryOptions& options, const Clock& clock)
    : options_(options),
      clock_(clock),
      hash_(options.hash_seed ? *options.hash_seed : runtime::random_seed()),
      stripes_count_(stripes_for(options.max_keys)),
      stripes_shift_(63 - static_cast<unsigned>(std::countr_zero(stripes_count_))),
      stripe_log_bytes_max_(std::max(options.log_bytes_max / stripes_count_, kStripeLogBytesMin)),
      stripes_(std::make_unique<Stripe[]>(stripes_count_)) {
  for (std::size_t i = 0; i < stripes_count_; ++i) stripes_[i].use(pool_);
}

MemoryLimits::~MemoryLimits() = default;

// Unlocks the stripe.
core::LimitStatus MemoryLimits::charge_locked(Stripe& stripe, Entry* entry, std::string_view key,
                                              const core::Limit& limit, std::int64_t cost,
                                              std::uint64_t hash, Instant now) {
  const std::lock_guard lock(stripe.lock, std::adopt_lock);
  core::LimitStatus status;
  if (entry == nullptr) {
    charge_new(stripe, hash, key, limit, cost, now, status);
  } else {
    charge_known(stripe, *entry, limit, cost, now, status);
  }
  return status;
}

[[gnu::always_inline]] inline void MemoryLimits::charge_key(std::string_view key,
                                                            const core::Limit& limit,
                                                            std::int64_t cost, std::uint64_t hash,
                                                            Instant now,
                                                            core::LimitStatus& status) {
  charge_key(
      key, limit, cost, hash, [now] { return now; },
      [&](const core::FastCharge& charge) { core::tell(limit, charge, status); },
      [&](const core::LimitStatus& other) { status = other; });
}

Entry* MemoryLimits::find_anew(Stripe& stripe, PlacedKey& key) const noexcept {
  key.place_ = stripe.place_of(cell_hash(key.hash_), key.text_);
  return stripe.find_at(key.place_, pool_);
}

void MemoryLimits::charge_known(Stripe& stripe, Entry& entry, const core::Limit& limit,
                                std::int64_t cost, Instant now, core::LimitStatus& status) {
  core::LimitState& state = entry.state;
  const bool known = core::made_for(state, limit);
  const std::size_t log_bytes = state.owned_bytes();
  status = core::charge_other(limit, state, cost, now, log_entries_max(stripe));
  if (cost == 0) return;
  stripe.log_bytes += state.owned_bytes() - log_bytes;
  entry.set_capacity(limit.capacity);
  if (status.admitted || !known) mark(stripe, entry);
}

void MemoryLimits::charge_new(Stripe& stripe, std::uint64_t hash, std::string_view key,
                              const core::Limit& limit, std::int64_t cost, Instant now,
                              core::LimitStatus& status) {
  core::LimitState fresh;
  status = core::charge(limit, fresh, cost, now, log_entries_max(stripe));
  if (status.admitted && cost > 0) {
    insert(stripe, hash, key, limit.capacity, std::move(fresh), now);
  }
}

[[gnu::always_inline]] inline LimitAnswer MemoryLimits::decide_one(const LimitRequest& request,
                                                                   std::uint64_t hash,
                                                                   Instant now) {
  const LimitCheck& check = request.checks[0];
  core::LimitStatus& status = request.statuses[0];
  charge_key(check.key, check.limit, request.cost, hash, now, status);
  return LimitAnswer{.admitted = status.admitted || check.shadow, .bound = 0};
}

void MemoryLimits::apply(std::span<const LimitRequest> requests, std::optional<Instant> now,
                         std::span<Result<LimitAnswer>> answers) {
  const Instant instant = at(now);
  if (requests.size() == 1) {
    const LimitRequest& request = requests[0];
    if (request.checks.size() == 1 && good_key(request.checks[0].key)) [[likely]] {
      set_answer(answers[0], decide_one(request, hash_(request.checks[0].key), instant));
    } else {
      answers[0] = decide(request, 0, instant);
    }
    return;
  }
  for (std::size_t from = 0; from < requests.size(); from += kGroup) {
    const std::size_t count = std::min(kGroup, requests.size() - from);
    apply_group(requests.subspan(from, count), instant, answers.subspan(from, count));
  }
}

// Memory is what a decision waits for, so a group asks for all of its own, one step at a time; for
// the stripes it has asked already.
void MemoryLimits::prefetch(std::span<const std::uint64_t> hashes) const {
  for (const std::uint64_t hash : hashes) stripe_of(hash).prefetch_cells(cell_hash(hash));
  for (const std::uint64_t hash : hashes) {
    Stripe& stripe = stripe_of(hash);
    const std::lock_guard lock(stripe.lock);
    stripe.prefetch_entry(cell_hash(hash));
  }
}

void MemoryLimits::apply_group(std::span<const LimitRequest> requests, Instant now,
                               std::span<Result<LimitAnswer>> answers) {
  std::array<std::uint64_t, kGroup> hashes;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::span<const LimitCheck> checks = requests[i].checks;
    hashes[i] = checks.empty() || !good_key(checks[0].key) ? 0 : hash_(checks[0].key);
    __builtin_prefetch(&stripe_of(hashes[i]), 1);
  }
  prefetch(std::span(hashes).first(requests.size()));
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests[i].checks.size() == 1 && good_key(requests[i].checks[0].key)) {
      set_answer(answers[i], decide_one(requests[i], hashes[i], now));
    } else {
      answers[i] = decide(requests[i], hashes[i], now);
    }
  }
}

// Several checks of one request, with the stripes of all of them locked as long as this lives.
template <std::size_t kMax>
class MemoryLimits::Several {
 public:
  Several(MemoryLimits& limits, const LimitRequest& request)
      : limits_(limits), request_(request), count_(request.checks.size()) {
    for (std::size_t i = 0; i < count_; ++i) {
      hashes_[i] = limits_.hash_(request.checks[i].key);
      stripes_[i] = &limits_.stripe_of(hashes_[i]);
    }
    // In ascending order, each once: two requests never wait for each other in a circle.
    std::copy_n(stripes_.begin(), count_, locked_.begin());
    std::sort(locked_.begin(), locked_.begin() + count_);
    locked_end_ = std::unique(locked_.begin(), locked_.begin() + count_);
    std::for_each(locked_.begin(), locked_end_, [](Stripe* stripe) { stripe->lock.lock(); });
  }
  ~Several() {
    std::for_each(locked_.begin(), locked_end_, [](Stripe* stripe) { stripe->lock.unlock(); });
  }
  Several(const Several&) = delete;
  Several& operator=(const Several&) = delete;

  LimitAnswer decide(Instant now) {
    for (std::size_t i = 0; i < count_; ++i) now = std::max(now, stripes_[i]->floor);
    const std::uint32_t log_entries = find();
    const core::Verdict verdict =
        core::charge_all(std::span(uses_).first(count_), request_.cost, now,
                         request_.statuses.first(count_), log_entries);
    // Entries first: an insertion may push one of them out.
    keep(verdict.admitted);
    if (verdict.admitted && request_.cost > 0) insert(now);
    return LimitAnswer{.admitted = verdict.admitted, .bound = verdict.bound};
  }

 private:
  // How long the logs may be that are charged.
  std::uint32_t find() {
    std::uint32_t log_entries = core::kLogEntriesMax;
    for (std::size_t i = 0; i < count_; ++i) {
      const LimitCheck& check = request_.checks[i];
      entries_[i] = stripes_[i]->find(cell_hash(hashes_[i]), check.key);
      core::LimitState& state = entries_[i] != nullptr ? entries_[i]->state : fresh_[i];
      known_[i] = core::made_for(state, check.limit);
      uses_[i] = {.limit = &check.limit, .state = &state, .shadow = check.shadow};
      stripes_[i]->log_bytes -= state.owned_bytes();
      log_entries = std::min(log_entries, limits_.log_entries_max(*stripes_[i]));
    }
    return log_entries;
  }

  void keep(bool admitted) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (entries_[i] == nullptr) continue;
      stripes_[i]->log_bytes += entries_[i]->state.owned_bytes();
      if (request_.cost == 0) continue;
      entries_[i]->set_capacity(request_.checks[i].limit.capacity);
      const bool charged = admitted && request_.statuses[i].admitted;
      if (charged || !known_[i]) limits_.mark(*stripes_[i], *entries_[i]);
    }
  }

  void insert(Instant now) {
    for (std::size_t i = 0; i < count_; ++i) {
      if (entries_[i] != nullptr || !request_.statuses[i].admitted) continue;
      const LimitCheck& check = request_.checks[i];
      limits_.insert(*stripes_[i], hashes_[i], check.key, check.limit.capacity,
                     std::move(fresh_[i]), now);
    }
  }

  MemoryLimits& limits_;
  const LimitRequest& request_;
  const std::size_t count_;
  std::array<std::uint64_t, kMax> hashes_;
  std::array<Stripe*, kMax> stripes_;  // of each check
  std::array<Stripe*, kMax> locked_;   // each once
  typename std::array<Stripe*, kMax>::iterator locked_end_;
  std::array<Entry*, kMax> entries_;  // null = the key is new, and this its state:
  std::array<core::LimitState, kMax> fresh_;
  std::array<core::LimitUse, kMax> uses_;
  std::array<bool, kMax> known_;  // the state was made for this limit
};

// `hash` is that of the first key, if there is one and it is good.
Result<LimitAnswer> MemoryLimits::decide(const LimitRequest& request, std::uint64_t hash,
                                         Instant now) {
  const std::size_t count = request.checks.size();
  if (count == 0) return fail(ErrorKind::invalid, "a request needs at least one limit");
  if (count > kChecksMax) return fail(ErrorKind::too_large, "a request has at most 64 limits");
  for (const LimitCheck& check : request.checks) {
    if (!good_key(check.key)) return bad_key();
  }
  if (count == 1) return decide_one(request, hash, now);
  return count <= 4 ? Several<4>(*this, request).decide(now)
                    : Several<kChecksMax>(*this, request).decide(now);
}

std::uint32_t MemoryLimits::log_entries_max(const Stripe& stripe) const noexcept {
  return stripe.log_bytes < stripe_log_bytes_max_ ? core::kLogEntriesMax : kCoarseLogEntries;
}

void MemoryLimits::insert(Stripe& stripe, std::uint64_t hash, std::string_view key,
                          std::int64_t capacity, core::LimitState&& state, Instant now) {
  drop_idle(stripe, kSweepPerInsert, now);
  // Counted first: of two stripes that fill the last place at once, one sees it taken.
  if (keys_.fetch_add(1, std::memory_order_relaxed) >= options_.max_keys) make_room(stripe, now);
  Entry& entry = stripe.insert(cell_hash(hash), key, std::move(state));
  entry.set_capacity(capacity);
  mark(stripe, entry);
}

void MemoryLimits::make_room(Stripe& stripe, Instant now) {
  std::size_t seen = 0;
  std::int64_t least = 0;
  Entry* victim = nullptr;
  const auto visit = [&](Entry& entry, bool& stop) {
    ++seen;
    const bool is_idle = core::idle(entry.state, now);
    const std::int64_t entry_weight = is_idle ? -1 : weight(entry, now);
    if (victim == nullptr || entry_weight < least ||
        (entry_weight == least && entry.state.last < victim->state.last)) {
      victim = &entry;
      least = entry_weight;
    }
    stop = is_idle || (seen >= kSampleKeys && least < 1'024);
    return false;
  };
  stripe.walk(std::min(kSampleKeysMax, stripe.size()), visit);
  if (victim == nullptr) return;
  note_removed(stripe, *victim);
  if (least < 0) stripe.floor = std::max(stripe.floor, now);
  const std::string key(victim->key());
  stripe.erase(cell_hash(hash_(key)), key);
  keys_.fetch_sub(1, std::memory_order_relaxed);
  (least < 0 ? dropped_ : evicted_).fetch_add(1, std::memory_order_relaxed);
}

// Between two savings at most the keys of the first can go: no more than a stripe holds, which is
// its share of max_keys, give or take. More gather only while nothing can be saved; the saver's
// copy is stale then, not wrong, so a full list forgets to say so.
void MemoryLimits::note_removed(Stripe& stripe, const Entry& entry) {
  const std::size_t removed_max = 2 * (options_.max_keys / stripes_count_) + kRemovedSpare;
  if (options_.track_changes && entry.saved != 0 && stripe.removed.size() < removed_max) {
    stripe.removed.emplace_back(entry.key());
  }
}

std::size_t MemoryLimits::drop_idle(Stripe& stripe, std::size_t entries, Instant now) {
  const std::size_t erased = stripe.walk(entries, [&](Entry& entry, bool&) {
    if (!core::idle(entry.state, now)) return false;
    note_removed(stripe, entry);
    return true;
  });
  if (erased > 0) {
    stripe.floor = std::max(stripe.floor, now);
    keys_.fetch_sub(erased, std::memory_order_relaxed);
    dropped_.fetch_add(erased, std::memory_order_relaxed);
  }
  return erased;
}

Result<bool> MemoryLimits::reset(std::string_view key) {
  if (!good_key(key)) return bad_key();
  const std::uint64_t hash = hash_(key);
  const Instant now = clock_.now();
  Stripe& stripe = stripe_of(hash);
  const std::lock_guard lock(stripe.lock);
  // Whatever the saver has of it must go, also of a key that was dropped without telling.
  if (options_.track_changes) stripe.removed.emplace_back(key);
  const Entry* const entry = stripe.find(cell_hash(hash), key);
  if (entry == nullptr) return false;
  const bool had_use = !core::idle(entry->state, now);
  stripe.erase(cell_hash(hash), key);
  keys_.fetch_sub(1, std::memory_order_relaxed);
  return had_use;
}

std::size_t MemoryLimits::sweep(std::size_t entries, std::optional<Instant> now) {
  const Instant instant = at(now);
  std::size_t erased = 0;
  for (std::size_t stripes = 0; entries > 0 && stripes < stripes_count_; ++stripes) {
    Stripe& stripe =
        stripes_[sweep_stripe_.fetch_add(1, std::memory_order_relaxed) % stripes_count_];
    const std::lock_guard lock(stripe.lock);
    const std::size_t share = std::min(entries, stripe.size());
    erased += drop_idle(stripe, share, instant);
    entries -= share;
  }
  return erased;
}

}  // namespace penstock::store::memory
