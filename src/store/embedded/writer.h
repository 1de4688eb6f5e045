// What the one writer holds: the engine and all that is remembered of it. Owned by the store; the
// ports share it.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "core/retention/progress.h"
#include "engine/rocksdb/engine.h"
#include "store/limits/embedded/policy_index.h"
#include "store/queue/embedded/queue_index.h"
#include "store/slots/embedded/known_configs.h"
#include "store/slots/embedded/window_counters.h"

namespace penstock::store::embedded {

// Windows read ahead at start, over all pools: a quarter of a million take about a tenth of a
// second and 2 MiB; a search that goes further reads on by itself.
inline constexpr std::size_t kWarmWindowsMax = 262'144;

// meta  "progress" -> kFormat, then of each mark: u64 wall us, u64 progress us
inline constexpr std::string_view kProgressKey = "progress";
std::string encode_progress(const core::Progress& progress);
Result<core::Progress> decode_progress(std::string_view value);

// How far time has gone on, for retention: kept in one record, which is written once a minute.
class ProgressRecord {
 public:
  using MonotonicSource = Micros (*)() noexcept;
  explicit ProgressRecord(MonotonicSource monotonic) : monotonic_(monotonic) {}

  Result<void> load(const Engine::View& view);
  // Goes on to `now`; nothing is written.
  Instant older_than(Millis keep, Instant now);
  // Writes what there is unless that was done within the last minute: a crash loses so much
  // progress, which only keeps things longer.
  Result<void> write(Engine& engine);

 private:
  const MonotonicSource monotonic_;
  core::Progress progress_;
  std::optional<Micros> advanced_;  // by the monotonic clock
  std::optional<Micros> written_;   // by the monotonic clock
};

struct Writer {
  Writer(Engine& engine_in, const Clock& clock_in, ProgressRecord::MonotonicSource monotonic)
      : engine(engine_in), clock(clock_in), progress(monotonic) {}

  // Reads the configs, the policies, the progress and what is claimed, and the windows from now on.
  // Holding `mutex`, when nothing is charged.
  Result<void> load();

  // Mends a failed engine if it can be. Holding `mutex`, and no view.
  Result<void> ready();

  // One step of who changes something, with ready() behind it: nobody else writes while it lives.
  struct Turn {
    std::unique_lock<std::mutex> lock;
    Engine::View view;
  };
  Result<Turn> turn();

  Instant at(std::optional<Instant> now) const { return now.value_or(clock.now()); }

  Engine& engine;
  const Clock& clock;
  std::mutex mutex;        // held from the first look at what is remembered until the commit
  WindowCounters windows;  // guarded by mutex
  Timelines timelines;     // guarded by mutex
  // No slot is to be confirmed before this. The walk over what is over begins here, behind all that
  // was taken out of the index and that RocksDB would still step over. Guarded by mutex.
  Instant terms_from = Instant::min();
  ProgressRecord progress;  // guarded by mutex
  ActiveConfigs configs;    // changed under mutex; readable by any thread
  PolicyIndex policies;     // changed under mutex; readable by any thread
  QueueIndex queue;         // changed under mutex; summaries are readable by any thread
};

}  // namespace penstock::store::embedded
