#include "store/limits/memory/chunk_pool.h"

#include <sys/mman.h>

#include <mutex>
#include <new>

#include "base/check.h"

namespace penstock::store::memory {

// Zeroed lazily by the kernel: 128 KiB of addresses, a page of memory for a million keys.
ChunkPool::ChunkPool() : blocks_(std::make_unique<std::byte*[]>(kBlocksMax)) {}

ChunkPool::~ChunkPool() {
  for (std::size_t i = 0; i < kBlocksMax && blocks_[i] != nullptr; ++i) {
    ::operator delete[](blocks_[i], std::align_val_t{kBlockBytes});
  }
}

Slot ChunkPool::take() {
  const std::lock_guard lock(lock_);
  if (!free_.empty()) {
    const Slot chunk = free_.back();
    free_.pop_back();
    return chunk;
  }
  const Slot chunk = next_;
  if ((chunk & kBlockMask) == 0) {
    // 32 GiB of entries: far beyond any max_keys that the machine's memory allows.
    PENSTOCK_CHECK(chunk >> kBlockBits < kBlocksMax - 1);
    void* const block = ::operator new[](kBlockBytes, std::align_val_t{kBlockBytes});
    madvise(block, kBlockBytes, MADV_HUGEPAGE);  // a wish; refused, all works the same
    blocks_[chunk >> kBlockBits] = static_cast<std::byte*>(block);
  }
  next_ += Slot{1} << kChunkBits;
  return chunk;
}

void ChunkPool::give_back(Slot chunk) {
  const std::lock_guard lock(lock_);
  free_.push_back(chunk);
}

}  // namespace penstock::store::memory
