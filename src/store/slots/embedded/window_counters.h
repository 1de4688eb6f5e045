// How full the windows are, as the one writer knows it: counters read from the database in chunks
// of neighbours, and per maximum the free-window index. Bounded; what falls out is read again when
// asked for. What is charged and given back here is a promise: call committed() once it is durable,
// drop() when it is not. One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "core/slots/full_runs.h"
#include "core/slots/placement.h"
#include "core/slots/slot_config.h"

namespace penstock::store::embedded {

// Where the counters are read from.
class WindowSource {
 public:
  // Gets a window and its count; false ends the walk.
  using Visit = std::function<bool(core::WindowIndex, std::uint32_t)>;

  virtual ~WindowSource() = default;
  // Used windows of [begin, end), ascending.
  virtual Result<void> each(const PoolName& pool, Millis size, core::WindowIndex begin,
                            core::WindowIndex end, const Visit& visit) = 0;
};

class WindowCounters {
 public:
  // One read of the database brings 64 neighbours: a search over cold full windows is one seek per
  // 64, and a lone far-off window does not drag much along.
  static constexpr core::WindowIndex kChunkWindows = 64;

  struct Limits {
    std::size_t chunks_max = 32'768;  // of about 400 bytes: 13 MiB, two million windows
    std::size_t pools_max = 4'096;    // of about 400 bytes without their chunks: 1.6 MiB
    std::size_t runs_max = 100'000;   // of 64 bytes, over all indexes: 6.4 MB
    std::size_t maxima_max = 8;  // indexes in one pool: its configs, and old maxima for a while
  };

  WindowCounters() : WindowCounters(Limits{}) {}
  explicit WindowCounters(const Limits& limits) : limits_(limits) {}

  // The earliest window of `pool` with room, charged at once; empty when there is none within
  // reach.
  Result<std::optional<core::Placement>> take(const PoolName& pool,
                                              const core::PlacementQuery& query,
                                              WindowSource& source);

  // Takes one off the count of a window, at once. `corrupt` when it counts none.
  Result<void> give_back(const PoolName& pool, Millis size, core::WindowIndex window,
                         WindowSource& source);

  // Every window whose count changed since the last committed() or drop(), with its count now.
  using Changed =
      std::function<void(const PoolName&, Millis size, core::WindowIndex, std::uint32_t)>;
  void each_changed(const Changed& changed) const;

  void committed();
  void drop() noexcept;

  // The database holds another count of this window now. For a time when nothing is charged.
  void forget(const PoolName& pool, Millis size, core::WindowIndex window);

  // Reads the windows of `config` from `from` on and learns which are full, until it has read
  // `windows_max`; gives how many it read. For a time when nothing is charged.
  Result<std::size_t> warm(const core::SlotConfig& config, Instant from, std::size_t windows_max,
                           WindowSource& source);

  std::size_t chunks() const noexcept { return chunks_.size(); }
  std::size_t pools() const noexcept { return pools_.size(); }
  std::size_t runs() const noexcept { return runs_; }

 private:
  struct Pool;

  struct Chunk {
    Pool* pool = nullptr;
    core::WindowIndex index = 0;  // of its first window / kChunkWindows
    std::uint64_t changed = 0;    // one bit a window: changed and not committed
    std::array<std::uint32_t, kChunkWindows> used{};
  };
  using Chunks = std::list<Chunk>;

  // Windows known to hold at least `max` events.
  struct Lane {
    std::int64_t max = 0;
    core::FullRuns full;
  };

  struct Pool {
    PoolName name;
    Millis size{0};
    std::unordered_map<core::WindowIndex, Chunks::iterator> chunks;
    std::list<Lane> lanes;  // most recently used first
  };
  using Pools = std::list<Pool>;

  Pool& pool_of(const PoolName& name, Millis size);
  Lane& lane_of(Pool& pool, std::int64_t max);
  Chunk& add_chunk(Pool& pool, core::WindowIndex index);
  void mark_changed(Chunk& chunk, std::size_t offset);
  Result<Chunk*> chunk_of(Pool& pool, core::WindowIndex window, WindowSource& source);
  void remove_chunk(Chunks::iterator chunk);
  void remove_last_lane(Pool& pool);
  void trim_chunks();
  void trim();

  const Limits limits_;
  Chunks chunks_;  // most recently used first
  Pools pools_;    // most recently used first
  std::map<std::pair<PoolName, Millis>, Pools::iterator> pool_index_;
  std::vector<Chunk*> changed_;  // chunks with a bit set; never removed while they stand here
  std::size_t runs_ = 0;         // over all lanes
};

}  // namespace penstock::store::embedded
