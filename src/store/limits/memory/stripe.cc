#include "store/limits/memory/stripe.h"

#include <algorithm>
#include <utility>

namespace penstock::store::memory {
namespace {

constexpr std::uint32_t kCellsMin = 8;
constexpr std::size_t kPackBytesMin = 16 * 1024;  // less is not worth the walk

// At most 80 % full: a search for a key that is not there looks at 13 cells, two cache lines.
constexpr bool full(std::uint32_t used, std::uint32_t count) { return used * 5ULL >= count * 4ULL; }

}  // namespace

Stripe::~Stripe() {
  each([](Entry& entry) { entry.~Entry(); });
}

void Stripe::prefetch_entry(std::uint32_t hash) const noexcept {
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  if (used_ == 0) return;
  for (std::uint32_t i = home(hash, count); cells_[i].slot != kNoSlot; i = next(i, count)) {
    if (cells_[i].hash != hash) continue;
    const char* const entry = reinterpret_cast<const char*>(&arena_[cells_[i].slot]);
    __builtin_prefetch(entry, 1);
    __builtin_prefetch(entry + 64, 1);
    return;
  }
}

void Stripe::put(Cell cell) noexcept {
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  std::uint32_t i = home(cell.hash, count);
  while (cells_[i].slot != kNoSlot) i = next(i, count);
  cells_[i] = cell;
}

void Stripe::resize(std::uint32_t count) {
  auto cells = std::make_unique_for_overwrite<Cell[]>(count);
  std::fill_n(cells.get(), count, Cell{.hash = 0, .slot = kNoSlot});
  const std::uint32_t old_count = count_.load(std::memory_order_relaxed);
  std::swap(cells, cells_);
  hint_.store(cells_.get(), std::memory_order_relaxed);
  count_.store(count, std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < old_count; ++i) {
    if (cells[i].slot != kNoSlot) put(cells[i]);
  }
  hand_ = 0;
}

Entry& Stripe::insert(std::uint32_t hash, std::string_view key, core::LimitState&& state) {
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  // By a quarter: the index costs 10 to 12.5 bytes a key.
  if (full(used_ + 1, count)) resize(std::max(kCellsMin, count + count / 4));
  const Slot slot = arena_.make(key, std::move(state));
  put({.hash = hash, .slot = slot});
  ++used_;
  log_bytes += arena_[slot].state.owned_bytes();
  return arena_[slot];
}

bool Stripe::erase(std::uint32_t hash, std::string_view key) noexcept {
  if (used_ == 0) return false;
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  for (std::uint32_t i = home(hash, count); cells_[i].slot != kNoSlot; i = next(i, count)) {
    if (cells_[i].hash == hash && arena_[cells_[i].slot].key() == key) {
      erase_cell(i);
      return true;
    }
  }
  return false;
}

void Stripe::erase_cell(std::uint32_t at) noexcept {
  forget_places();
  const Entry& entry = arena_[cells_[at].slot];
  log_bytes -= entry.state.owned_bytes();
  dirty -= entry.dirty;
  arena_.destroy(cells_[at].slot);
  --used_;
  // Whatever was pushed past the hole moves back, so that no search ends too early.
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  std::uint32_t hole = at;
  for (std::uint32_t i = next(at, count); cells_[i].slot != kNoSlot; i = next(i, count)) {
    const std::uint32_t from = home(cells_[i].hash, count);
    const std::uint32_t distance = i >= from ? i - from : i + count - from;
    const std::uint32_t to_hole = i >= hole ? i - hole : i + count - hole;
    if (distance < to_hole) continue;
    cells_[hole] = cells_[i];
    hole = i;
  }
  cells_[hole].slot = kNoSlot;
  if (count > kCellsMin && used_ < count / 4) resize(std::max(kCellsMin, count / 2));
  if (arena_.free_bytes() > std::max(kPackBytesMin, arena_.bytes() / 2)) pack();
}

// Moves every entry into a new arena, so that a stripe takes at most twice what it holds, whatever
// sizes of keys come and go.
void Stripe::pack() noexcept {
  EntryArena packed;
  packed.use(arena_.pool());
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (cells_[i].slot == kNoSlot) continue;
    Entry& from = arena_[cells_[i].slot];
    const Slot slot = packed.make(from.key(), std::move(from.state));
    Entry& to = packed[slot];
    to.capacity = from.capacity;
    to.dirty = from.dirty;
    to.saved = from.saved;
    from.~Entry();
    cells_[i].slot = slot;
  }
  arena_.replace(packed);
}

std::size_t Stripe::bytes() const noexcept {
  std::size_t bytes = sizeof *this + count_.load(std::memory_order_relaxed) * sizeof(Cell) +
                      arena_.bytes() + removed.capacity() * sizeof(std::string);
  for (const std::string& key : removed) bytes += key.capacity();
  return bytes;
}

}  // namespace penstock::store::memory
