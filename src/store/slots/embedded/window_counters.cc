#include "store/slots/embedded/window_counters.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "base/check.h"

namespace penstock::store::embedded {

using core::WindowIndex;

Result<std::optional<core::Placement>> WindowCounters::take(const PoolName& name,
                                                            const core::PlacementQuery& query,
                                                            WindowSource& source) {
  Pool& pool = pool_of(name, query.window_size);
  Lane& lane = lane_of(pool, query.max_per_window);
  const std::size_t runs_before = lane.full.runs();
  Chunk* chunk = nullptr;
  std::optional<Error> failure;
  const auto used = [&](WindowIndex window) -> std::int64_t {
    if (chunk == nullptr || chunk->index != window / kChunkWindows) {
      Result<Chunk*> found = chunk_of(pool, window, source);
      if (!found) {
        failure = std::move(found.error());
        return 0;  // "free" ends the search at once; its result is not used
      }
      chunk = *found;
    }
    // A full window is often one of many: teach the index all that follow in the chunk, so that the
    // search steps over them together.
    const WindowIndex begin = window % kChunkWindows;
    WindowIndex end = begin;
    while (end < kChunkWindows && chunk->used[static_cast<std::size_t>(end)] >= lane.max) ++end;
    if (end > begin) lane.full.insert(window, window + (end - begin));
    return chunk->used[static_cast<std::size_t>(begin)];
  };
  std::optional<core::Placement> placement = core::place(query, lane.full, used);
  runs_ += lane.full.runs() - runs_before;  // unsigned, and right when it shrinks too
  if (failure) return std::unexpected(std::move(*failure));
  if (placement) {
    // The search asks about the window it takes last of all.
    PENSTOCK_CHECK(chunk != nullptr && chunk->index == placement->window / kChunkWindows);
    const auto offset = static_cast<std::size_t>(placement->window % kChunkWindows);
    ++chunk->used[offset];
    mark_changed(*chunk, offset);
  }
  return placement;
}

Result<void> WindowCounters::give_back(const PoolName& name, Millis size, WindowIndex window,
                                       WindowSource& source) {
  Pool& pool = pool_of(name, size);
  Chunk* const chunk = PENSTOCK_TRY(chunk_of(pool, window, source));
  const auto offset = static_cast<std::size_t>(window % kChunkWindows);
  std::uint32_t& used = chunk->used[offset];
  if (used == 0) {
    return fail(ErrorKind::corrupt,
                "a window counter is smaller than the number of its slots: restore the folder from "
                "a backup");
  }
  --used;
  mark_changed(*chunk, offset);
  for (Lane& lane : pool.lanes) {
    if (used >= lane.max) continue;
    const std::size_t runs_before = lane.full.runs();
    lane.full.erase(window);
    runs_ += lane.full.runs() - runs_before;
  }
  return {};
}

void WindowCounters::each_changed(const Changed& changed) const {
  for (const Chunk* chunk : changed_) {
    for (std::uint64_t bits = chunk->changed; bits != 0; bits &= bits - 1) {
      const auto offset = static_cast<std::size_t>(std::countr_zero(bits));
      changed(chunk->pool->name, chunk->pool->size,
              chunk->index * kChunkWindows + static_cast<WindowIndex>(offset), chunk->used[offset]);
    }
  }
}

void WindowCounters::committed() {
  for (Chunk* chunk : changed_) chunk->changed = 0;
  changed_.clear();
  trim();
}

void WindowCounters::drop() noexcept {
  changed_.clear();
  pool_index_.clear();
  pools_.clear();
  chunks_.clear();
  runs_ = 0;
}

void WindowCounters::forget(const PoolName& name, Millis size, WindowIndex window) {
  PENSTOCK_CHECK(changed_.empty());
  const auto entry = pool_index_.find({name, size});
  if (entry == pool_index_.end()) return;
  Pool& pool = *entry->second;
  if (const auto chunk = pool.chunks.find(window / kChunkWindows); chunk != pool.chunks.end()) {
    remove_chunk(chunk->second);
  }
  for (Lane& lane : pool.lanes) {
    const std::size_t runs_before = lane.full.runs();
    lane.full.erase(window);
    runs_ += lane.full.runs() - runs_before;
  }
}

Result<std::size_t> WindowCounters::warm(const core::SlotConfig& config, Instant from,
                                         std::size_t windows_max, WindowSource& source) {
  PENSTOCK_CHECK(changed_.empty());
  Pool& pool = pool_of(config.pool, config.window_size);
  Lane& lane = lane_of(pool, config.max_per_window);
  const std::size_t runs_before = lane.full.runs();
  const WindowIndex begin =
      core::window_of(from, config.window_size) / kChunkWindows * kChunkWindows;
  const WindowIndex end = core::window_of(kInstantEnd + core::kMaxDelayMax, config.window_size) + 1;
  std::size_t windows = 0;
  Chunk* chunk = nullptr;
  const auto visit = [&](WindowIndex window, std::uint32_t used) {
    const WindowIndex index = window / kChunkWindows;
    if (chunk == nullptr || chunk->index != index) {
      // Stops between chunks only: a chunk that is there is there in whole.
      if (windows >= windows_max || chunks_.size() >= limits_.chunks_max) return false;
      const auto known = pool.chunks.find(index);
      chunk = known != pool.chunks.end() ? &*known->second : &add_chunk(pool, index);
    }
    chunk->used[static_cast<std::size_t>(window % kChunkWindows)] = used;
    if (used >= lane.max) lane.full.insert(window);
    ++windows;
    return true;
  };
  Result<void> walked = source.each(pool.name, pool.size, begin, end, visit);
  if (!walked) {
    drop();  // the last chunk may be half read
    return std::unexpected(std::move(walked.error()));
  }
  runs_ += lane.full.runs() - runs_before;
  trim();
  return windows;
}

WindowCounters::Pool& WindowCounters::pool_of(const PoolName& name, Millis size) {
  // Most batches ask for one pool: it stands in front.
  if (!pools_.empty() && pools_.front().size == size && pools_.front().name == name) {
    return pools_.front();
  }
  const auto [entry, added] = pool_index_.try_emplace({name, size});
  if (added) {
    pools_.push_front({.name = name, .size = size, .chunks = {}, .lanes = {}});
    entry->second = pools_.begin();
  } else {
    pools_.splice(pools_.begin(), pools_, entry->second);
  }
  return pools_.front();
}

WindowCounters::Lane& WindowCounters::lane_of(Pool& pool, std::int64_t max) {
  if (const auto lane = std::ranges::find(pool.lanes, max, &Lane::max); lane != pool.lanes.end()) {
    pool.lanes.splice(pool.lanes.begin(), pool.lanes, lane);
  } else {
    if (pool.lanes.size() >= limits_.maxima_max) remove_last_lane(pool);
    pool.lanes.push_front({max, core::FullRuns(limits_.runs_max)});
  }
  return pool.lanes.front();
}

void WindowCounters::mark_changed(Chunk& chunk, std::size_t offset) {
  if (chunk.changed == 0) changed_.push_back(&chunk);
  chunk.changed |= std::uint64_t{1} << offset;
}

WindowCounters::Chunk& WindowCounters::add_chunk(Pool& pool, WindowIndex index) {
  chunks_.push_front({.pool = &pool, .index = index});
  pool.chunks.emplace(index, chunks_.begin());
  return chunks_.front();
}

Result<WindowCounters::Chunk*> WindowCounters::chunk_of(Pool& pool, WindowIndex window,
                                                        WindowSource& source) {
  const WindowIndex index = window / kChunkWindows;
  if (const auto known = pool.chunks.find(index); known != pool.chunks.end()) {
    chunks_.splice(chunks_.begin(), chunks_, known->second);
    return &chunks_.front();
  }
  trim_chunks();
  Chunk& chunk = add_chunk(pool, index);
  const WindowIndex begin = index * kChunkWindows;
  Result<void> read = source.each(pool.name, pool.size, begin, begin + kChunkWindows,
                                  [&](WindowIndex at, std::uint32_t used) {
                                    chunk.used[static_cast<std::size_t>(at - begin)] = used;
                                    return true;
                                  });
  if (!read) {
    remove_chunk(chunks_.begin());
    return std::unexpected(std::move(read.error()));
  }
  return &chunk;
}

void WindowCounters::remove_chunk(Chunks::iterator chunk) {
  PENSTOCK_CHECK(chunk->changed == 0);
  chunk->pool->chunks.erase(chunk->index);
  chunks_.erase(chunk);
}

void WindowCounters::remove_last_lane(Pool& pool) {
  runs_ -= pool.lanes.back().full.runs();
  pool.lanes.pop_back();
}

// Makes room for one more. Charged chunks stay until they are committed: at most one per event of
// the batch.
void WindowCounters::trim_chunks() {
  if (chunks_.size() < limits_.chunks_max) return;
  const auto oldest = std::find_if(chunks_.rbegin(), chunks_.rend(),
                                   [](const Chunk& chunk) { return chunk.changed == 0; });
  if (oldest != chunks_.rend()) remove_chunk(std::prev(oldest.base()));
}

// Between batches, when nothing is charged: keeps every cache within its limit, the least recently
// used going first.
void WindowCounters::trim() {
  while (chunks_.size() > limits_.chunks_max) remove_chunk(std::prev(chunks_.end()));
  while (pools_.size() > limits_.pools_max) {
    Pool& pool = pools_.back();
    for (const auto& [index, chunk] : pool.chunks) chunks_.erase(chunk);
    while (!pool.lanes.empty()) remove_last_lane(pool);
    pool_index_.erase({pool.name, pool.size});
    pools_.pop_back();
  }
  if (runs_ <= limits_.runs_max) return;
  // Down to three quarters, lest the next batch does the same walk again. One index alone keeps to
  // the limit by itself.
  for (auto pool = pools_.rbegin(); pool != pools_.rend(); ++pool) {
    const bool newest = std::next(pool) == pools_.rend();
    while (runs_ > limits_.runs_max / 4 * 3 && pool->lanes.size() > (newest ? 1 : 0)) {
      remove_last_lane(*pool);
    }
  }
}

}  // namespace penstock::store::embedded
