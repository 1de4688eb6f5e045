// Where the entries of a stripe lie: packed into chunks of a pool, each with its key right behind
// it, and named by a 32-bit slot. Entries do not move. A freed place serves the next entry of its
// size. Guarded by the stripe's lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/limits/limit.h"
#include "core/limits/state.h"
#include "store/limits/memory/chunk_pool.h"
#include "store/limits/memory/key_hash.h"

namespace penstock::store::memory {

// One cache line, then the key.
struct Entry {
  core::LimitState state;
  std::uint64_t capacity : 40;  // that the key was last judged by; 10^12 needs 40 bits
  std::uint64_t key_bytes : 16;
  std::uint64_t dirty : 1;  // changed since it was last collected
  std::uint64_t saved : 1;  // collected or restored before, so that the saver knows of it
  std::uint64_t : 6;

  std::string_view key() const noexcept {
    return {reinterpret_cast<const char*>(this + 1), key_bytes};
  }
  core::Limit limit() const noexcept;
  // Rarely another one: what is not written is not waited for either.
  void set_capacity(std::int64_t to) noexcept {
    constexpr std::uint64_t kMask = (std::uint64_t{1} << 40) - 1;
    const auto next = static_cast<std::uint64_t>(to);
    if (capacity != (next & kMask)) [[unlikely]] {
      capacity = next & kMask;
    }
  }
};
static_assert(sizeof(Entry) == 64);

class EntryArena {
 public:
  EntryArena() noexcept { free_.fill(kNoSlot); }
  ~EntryArena() { give_back(); }
  EntryArena(const EntryArena&) = delete;
  EntryArena& operator=(const EntryArena&) = delete;

  Entry& operator[](Slot slot) const noexcept { return *reinterpret_cast<Entry*>(pool_->at(slot)); }

  // Before anything is made here; `pool` outlives this.
  void use(ChunkPool& pool) noexcept { pool_ = &pool; }
  Slot make(std::string_view key, core::LimitState&& state);
  void destroy(Slot slot) noexcept;

  // Takes over all of `other`, which is empty then. What was here has been destroyed.
  void replace(EntryArena& other) noexcept;

  std::size_t bytes() const noexcept { return chunks_.size() * ChunkPool::kChunkBytes; }
  std::size_t free_bytes() const noexcept { return free_bytes_; }
  ChunkPool& pool() const noexcept { return *pool_; }

 private:
  static constexpr std::size_t kUnit = ChunkPool::kUnit;
  static constexpr std::size_t kChunkUnits = ChunkPool::kChunkBytes / kUnit;

  static std::size_t units_for(std::size_t key_bytes) noexcept {
    return (sizeof(Entry) + key_bytes + kUnit - 1) / kUnit;
  }
  Slot take(std::size_t units);
  void give_back() noexcept;

  ChunkPool* pool_ = nullptr;
  std::vector<Slot> chunks_;
  std::size_t next_unit_ = kChunkUnits;  // in the last chunk
  std::size_t free_bytes_ = 0;
  // By size in units, less that of an entry without a key. A free place begins with the next one.
  std::array<Slot, kKeyBytesMax / kUnit + 1> free_;
};

}  // namespace penstock::store::memory
