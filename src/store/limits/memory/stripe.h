// One part of the table: an open-addressing index over an arena, behind one lock. A cell holds 32
// bits of the hash, so growing touches no entry; a stripe holds some 2,000 keys, so growing takes
// microseconds. Everything but prefetch() needs the lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/same_bytes.h"
#include "base/time.h"
#include "core/limits/state.h"
#include "store/limits/memory/entry_arena.h"
#include "store/limits/memory/spin_lock.h"

namespace penstock::store::memory {

class alignas(64) Stripe {
 public:
  Stripe() = default;
  Stripe(const Stripe&) = delete;
  Stripe& operator=(const Stripe&) = delete;
  ~Stripe();

  Entry* find(std::uint32_t hash, std::string_view key) const noexcept {
    return find(hash, key, arena_.pool());
  }
  // The same for callers that have the pool at hand and need not wait for the stripe to name it.
  [[gnu::always_inline]] Entry* find(std::uint32_t hash, std::string_view key,
                                     const ChunkPool& pool) const noexcept {
    const Slot slot = find_slot(hash, key, pool);
    return slot == kNoSlot ? nullptr : &entry_at(slot, pool);
  }

  // Where an entry was found, for as long as no entry of the stripe goes or moves. 0 is none.
  using Place = std::uint64_t;

  [[gnu::always_inline]] Entry* find_at(Place place, const ChunkPool& pool) const noexcept {
    return place >> 32 == generation_ ? &entry_at(static_cast<Slot>(place), pool) : nullptr;
  }
  Place place_of(std::uint32_t hash, std::string_view key) const noexcept {
    const Slot slot = find_slot(hash, key, arena_.pool());
    return slot == kNoSlot ? 0 : Place{generation_} << 32 | slot;
  }

  // Before the first key; `pool` outlives this.
  void use(ChunkPool& pool) noexcept { arena_.use(pool); }

  // The key is not there yet.
  Entry& insert(std::uint32_t hash, std::string_view key, core::LimitState&& state);
  bool erase(std::uint32_t hash, std::string_view key) noexcept;

  // Asks for the cells that `hash` will need, without the lock.
  void prefetch_cells(std::uint32_t hash) const noexcept {
    const Cell* const cells = hint_.load(std::memory_order_relaxed);
    __builtin_prefetch(cells + home(hash, count_.load(std::memory_order_relaxed)));
  }
  // Asks for the entry that `hash` probably names.
  void prefetch_entry(std::uint32_t hash) const noexcept;

  // Walks on from where the last walk ended, over at most `entries` entries. `visit(entry, stop)`
  // tells whether to erase the entry, and ends the walk by setting `stop`.
  template <class Visit>
  std::size_t walk(std::size_t entries, Visit&& visit) noexcept {
    std::size_t erased = 0;
    const std::size_t cells_max = 8 * entries + 64;  // long empty runs are rare: at most 36 % is
    bool stop = false;
    for (std::size_t cells = 0; used_ > 0 && entries > 0 && !stop && cells < cells_max; ++cells) {
      const std::uint32_t count = count_.load(std::memory_order_relaxed);
      if (hand_ >= count) hand_ = 0;
      const Cell cell = cells_[hand_];
      if (cell.slot == kNoSlot) {
        ++hand_;
        continue;
      }
      --entries;
      if (visit(arena_[cell.slot], stop)) {
        erase_cell(hand_);  // another cell may have moved here: the hand stays
        ++erased;
      } else {
        ++hand_;
      }
    }
    return erased;
  }

  template <class Visit>
  void each(Visit&& visit) const {
    const std::uint32_t count = count_.load(std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < count; ++i) {
      if (cells_[i].slot != kNoSlot) visit(arena_[cells_[i].slot]);
    }
  }

  std::size_t size() const noexcept { return used_; }
  // All that it has allocated, but for the logs.
  std::size_t bytes() const noexcept;

 private:
  struct Cell {
    std::uint32_t hash;
    Slot slot;
  };

  static std::uint32_t home(std::uint32_t hash, std::uint32_t count) noexcept {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(hash) * count >> 32);
  }
  static std::uint32_t next(std::uint32_t i, std::uint32_t count) noexcept {
    return i + 1 == count ? 0 : i + 1;
  }

  static Entry& entry_at(Slot slot, const ChunkPool& pool) noexcept {
    return *reinterpret_cast<Entry*>(pool.at(slot));
  }
  [[gnu::always_inline]] Slot find_slot(std::uint32_t hash, std::string_view key,
                                        const ChunkPool& pool) const noexcept {
    if (used_ == 0) [[unlikely]]
      return kNoSlot;
    const std::uint32_t count = count_.load(std::memory_order_relaxed);
    for (std::uint32_t i = home(hash, count);; i = next(i, count)) {
      const Cell cell = cells_[i];
      if (cell.slot == kNoSlot) [[unlikely]]
        return kNoSlot;
      if (cell.hash != hash) continue;
      const Entry& entry = entry_at(cell.slot, pool);
      if (entry.key_bytes == key.size() && same_bytes(reinterpret_cast<const char*>(&entry + 1),
                                                      key.data(), key.size())) [[likely]] {
        return cell.slot;
      }
    }
  }
  void resize(std::uint32_t count);
  void put(Cell cell) noexcept;
  void erase_cell(std::uint32_t at) noexcept;
  void pack() noexcept;
  void forget_places() noexcept {
    if (++generation_ == 0) generation_ = 1;
  }

  // What every decision reads comes first, in one cache line.
 public:
  SpinLock lock;

 private:
  std::uint32_t used_ = 0;
  // Atomic only for prefetch_cells(), which may see an old pair and prefetch in vain.
  std::atomic<std::uint32_t> count_ = 0;
  // Another one whenever an entry goes or moves, never 0. It takes four billion of those until a
  // place that was kept all the while could be taken for another one's.
  std::uint32_t generation_ = 1;
  std::atomic<const Cell*> hint_ = nullptr;
  std::unique_ptr<Cell[]> cells_;

 public:
  // The newest instant at which a key was dropped as idle. No decision here is made as of an
  // earlier one, at which the key may not have been idle: dropping never mints, not even when time
  // goes back.
  Instant floor{};
  std::size_t log_bytes = 0;  // of the entries that it holds

 private:
  EntryArena arena_;
  std::uint32_t hand_ = 0;

 public:
  std::size_t dirty = 0;             // entries marked so
  std::vector<std::string> removed;  // keys that a saver has to forget
};

}  // namespace penstock::store::memory
