// What people and savers ask of MemoryLimits; deciding is in memory_limits.cc.
#include <algorithm>
#include <mutex>
#include <utility>

#include "core/limits/decide.h"
#include "core/limits/state.h"
#include "store/limits/memory/memory_limits.h"

namespace penstock::store::memory {
namespace {

KeyUse use_of(const Entry& entry, Instant now) {
  return {.key = std::string(entry.key()),
          .limit = entry.limit(),
          .used = core::used(entry.state, now),
          .window_count = core::window_count(entry.state, now)};
}

bool key_less(const KeyUse& a, const KeyUse& b) { return a.key < b.key; }

std::string encode(const Entry& entry) {
  std::string bytes;
  core::put_number(entry.capacity, bytes);
  core::encode_state(entry.state, bytes);
  return bytes;
}

}  // namespace

Result<std::optional<KeyUse>> MemoryLimits::find(std::string_view key, std::optional<Instant> now) {
  if (key.size() > kKeyBytesMax) return std::nullopt;
  const Instant instant = at(now);
  const std::uint64_t hash = hash_(key);
  Stripe& stripe = stripe_of(hash);
  const std::lock_guard lock(stripe.lock);
  const Entry* const entry = stripe.find(static_cast<std::uint32_t>(hash), key);
  if (entry == nullptr || core::idle(entry->state, instant)) return std::nullopt;
  return use_of(*entry, instant);
}

Result<std::vector<KeyUse>> MemoryLimits::list(std::string_view after, std::size_t limit,
                                               std::optional<Instant> now) {
  const Instant instant = at(now);
  std::vector<KeyUse> page;  // a heap, the last key on top, until the end
  if (limit == 0) return page;
  for (std::size_t i = 0; i < stripes_count_; ++i) {
    const std::lock_guard lock(stripes_[i].lock);
    stripes_[i].each([&](const Entry& entry) {
      if (entry.key() <= after || core::idle(entry.state, instant)) return;
      if (page.size() == limit) {
        if (entry.key() >= page.front().key) return;
        std::ranges::pop_heap(page, key_less);
        page.pop_back();
      }
      page.push_back(use_of(entry, instant));
      std::ranges::push_heap(page, key_less);
    });
  }
  std::ranges::sort_heap(page, key_less);
  return page;
}

bool MemoryLimits::collect_changes(std::size_t& cursor, std::size_t limit,
                                   std::vector<SavedLimit>& out, Collect what) {
  const Instant now = clock_.now();
  const std::size_t enough = out.size() + limit;
  for (; cursor < stripes_count_ && out.size() < enough; ++cursor) {
    Stripe& stripe = stripes_[cursor];
    const std::lock_guard lock(stripe.lock);
    // Before the states: a key that came back since is saved again.
    for (std::string& key : stripe.removed) out.push_back({.key = std::move(key), .state = {}});
    stripe.removed = {};
    if (stripe.dirty == 0) continue;
    stripe.each([&](Entry& entry) {
      if (entry.dirty == 0) return;
      if (what == Collect::in_use && core::used(entry.state, now) == 0) {
        // What was saved of it may say more by now, after some was given back.
        if (entry.saved != 0) out.push_back({.key = std::string(entry.key()), .state = {}});
        entry.saved = 0;
        return;
      }
      out.push_back({.key = std::string(entry.key()), .state = encode(entry)});
      entry.dirty = 0;
      entry.saved = 1;
      --stripe.dirty;
    });
  }
  return cursor < stripes_count_;
}

void MemoryLimits::put_back(std::span<const SavedLimit> unsaved) {
  for (const SavedLimit& saved : unsaved) {
    const std::uint64_t hash = hash_(saved.key);
    Stripe& stripe = stripe_of(hash);
    const std::lock_guard lock(stripe.lock);
    Entry* const entry = stripe.find(static_cast<std::uint32_t>(hash), saved.key);
    if (saved.state.empty()) stripe.removed.push_back(saved.key);
    if (entry != nullptr) mark(stripe, *entry);
  }
}

Result<bool> MemoryLimits::restore(std::string_view key, std::string_view state) {
  const std::optional<std::uint64_t> capacity = core::take_number(state);
  if (key.empty() || key.size() > kKeyBytesMax || !capacity || *capacity < 1 ||
      *capacity > static_cast<std::uint64_t>(core::kCapacityMax)) {
    return fail(ErrorKind::corrupt, "saved limit: bad key or capacity");
  }
  core::LimitState decoded = PENSTOCK_TRY(core::decode_state(state));
  const Instant now = clock_.now();
  core::bring_back(decoded, now);
  if (core::idle(decoded, now)) return false;
  const std::uint64_t hash = hash_(key);
  Stripe& stripe = stripe_of(hash);
  const std::lock_guard lock(stripe.lock);
  if (stripe.find(static_cast<std::uint32_t>(hash), key) != nullptr) return false;
  if (keys_.load(std::memory_order_relaxed) >= options_.max_keys) make_room(stripe, now);
  Entry& entry = stripe.insert(static_cast<std::uint32_t>(hash), key, std::move(decoded));
  entry.set_capacity(static_cast<std::int64_t>(*capacity));
  entry.saved = 1;
  keys_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

MemoryUse MemoryLimits::memory_use() const {
  MemoryUse use{.keys = keys_.load(std::memory_order_relaxed),
                .bytes = sizeof *this,
                .dropped = dropped_.load(std::memory_order_relaxed),
                .evicted = evicted_.load(std::memory_order_relaxed)};
  for (std::size_t i = 0; i < stripes_count_; ++i) {
    const std::lock_guard lock(stripes_[i].lock);
    use.bytes += stripes_[i].bytes();
    use.log_bytes += stripes_[i].log_bytes;
  }
  return use;
}

}  // namespace penstock::store::memory
