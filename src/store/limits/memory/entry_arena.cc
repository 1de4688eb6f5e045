#include "store/limits/memory/entry_arena.h"

#include <cstring>
#include <utility>

namespace penstock::store::memory {

core::Limit Entry::limit() const noexcept {
  core::Limit limit{.type = state.type,
                    .capacity = static_cast<std::int64_t>(capacity),
                    .window = Seconds{state.window_seconds}};
  if (core::is_bucket(state.type)) limit.refill = state.bucket.rate;
  return limit;
}

Slot EntryArena::take(std::size_t units) {
  Slot& head = free_[units - sizeof(Entry) / kUnit];
  if (head != kNoSlot) {
    const Slot slot = head;
    std::memcpy(&head, static_cast<const void*>(&(*this)[slot]), sizeof head);
    free_bytes_ -= units * kUnit;
    return slot;
  }
  if (next_unit_ + units > kChunkUnits) {
    chunks_.push_back(pool_->take());
    next_unit_ = 0;
  }
  const Slot slot = chunks_.back() + static_cast<Slot>(next_unit_);
  next_unit_ += units;
  return slot;
}

Slot EntryArena::make(std::string_view key, core::LimitState&& state) {
  const Slot slot = take(units_for(key.size()));
  Entry* const entry = new (&(*this)[slot]) Entry{.state = std::move(state),
                                                  .capacity = 1,
                                                  .key_bytes = key.size() & 0xffff,
                                                  .dirty = 0,
                                                  .saved = 0};
  std::memcpy(static_cast<void*>(entry + 1), key.data(), key.size());
  return slot;
}

void EntryArena::destroy(Slot slot) noexcept {
  Entry& entry = (*this)[slot];
  const std::size_t units = units_for(entry.key_bytes);
  entry.~Entry();
  Slot& head = free_[units - sizeof(Entry) / kUnit];
  std::memcpy(static_cast<void*>(&entry), &head, sizeof head);
  head = slot;
  free_bytes_ += units * kUnit;
}

void EntryArena::replace(EntryArena& other) noexcept {
  give_back();
  chunks_ = std::exchange(other.chunks_, {});
  next_unit_ = std::exchange(other.next_unit_, kChunkUnits);
  free_bytes_ = std::exchange(other.free_bytes_, 0);
  free_ = other.free_;
}

void EntryArena::give_back() noexcept {
  for (const Slot chunk : chunks_) pool_->give_back(chunk);
}

}  // namespace penstock::store::memory
