// The memory of all entries: blocks of 2 MiB (huge pages where the kernel gives them, since random
// keys miss the page tables as often as the caches), handed out in chunks of 4 KiB to the stripes.
// A slot names a place in all of it, so that finding an entry reads one small table of blocks.
// Blocks go back only with the pool; chunks are reused. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "store/limits/memory/spin_lock.h"

namespace penstock::store::memory {

using Slot = std::uint32_t;  // in units of 8 bytes: 32 GiB
inline constexpr Slot kNoSlot = UINT32_MAX;

class ChunkPool {
 public:
  static constexpr std::size_t kUnit = 8;
  static constexpr unsigned kChunkBits = 9;  // 4 KiB: each stripe leaves half of one empty
  static constexpr std::size_t kChunkBytes = kUnit << kChunkBits;

  ChunkPool();
  ~ChunkPool();
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;

  // The slot that a chunk begins with.
  Slot take();
  void give_back(Slot chunk);

  // Of a slot in a chunk that was taken.
  std::byte* at(Slot slot) const noexcept {
    return blocks_[slot >> kBlockBits] + (slot & kBlockMask) * kUnit;
  }

 private:
  static constexpr unsigned kBlockBits = 18;
  static constexpr Slot kBlockMask = (1U << kBlockBits) - 1;
  static constexpr std::size_t kBlockBytes = kUnit << kBlockBits;
  static constexpr std::size_t kBlocksMax = std::size_t{1} << (32 - kBlockBits);

  SpinLock lock_;
  std::vector<Slot> free_;  // guarded by lock_
  Slot next_ = 0;           // guarded by lock_: the first slot never handed out
  // An entry is written under lock_ before a slot in it is known to anyone, and then stays.
  std::unique_ptr<std::byte*[]> blocks_;
};

}  // namespace penstock::store::memory
