// The use cases of slots: assign, look up, occupancy, and the configs behind them. Calls return at
// once; the answer comes to `done` on one of the service's own threads, exactly once. A full queue
// answers `overloaded` on the calling thread. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "core/slots/burst.h"
#include "core/slots/slot.h"
#include "core/slots/slot_config.h"
#include "runtime/batcher.h"
#include "runtime/clocks.h"
#include "runtime/metrics.h"
#include "runtime/threads.h"
#include "service/reads.h"
#include "service/slots/config_cache.h"
#include "store/slots/ports.h"

namespace penstock::service {

struct SlotServiceOptions {
  ConfigName default_config = ConfigName::trusted("default");
  Millis max_delay = std::chrono::days{1};
  std::size_t queue_max = 65'536;  // events waiting: about 15 MB, and about a second of work
  std::size_t batch_max = 4'096;   // events in one write: keeps one batch under 100 ms
  std::size_t writers = 1;         // batches in flight; more than one only helps a shared store
  std::size_t join_min = 64;       // events that make another batch in flight worth its round trip
};

struct BurstAsked {
  ConfigName config;  // empty = the default
  Instant requested{};
  std::int64_t count = 0;
};

struct Windows {
  core::SlotConfig config;
  std::vector<core::WindowUse> windows;
  bool truncated = false;
};

class SlotService {
 public:
  template <class T>
  using Done = std::move_only_function<void(T)>;
  using Assigned = std::vector<Result<core::Slot>>;

  // The stores, clock, log and metrics must outlive the service. `seed` starts the jitter.
  // `changes`: how this node hears what other nodes do to the configs; null when there are none.
  // `life`: null = slots are never confirmed or released.
  SlotService(SlotServiceOptions options, store::SlotStore& slots, store::SlotConfigStore& configs,
              const Clock& clock, Log& log, runtime::Metrics& metrics, std::uint64_t seed,
              store::ChangeFeed* changes = nullptr, store::SlotLife* life = nullptr);
  ~SlotService() { stop(); }

  // One answer per call, in order; an empty list of calls is answered at once.
  void assign(std::vector<core::SlotCall> calls, std::string request_id, Done<Assigned> done);
  void find(EventId event, Done<Result<std::optional<core::Slot>>> done);
  // At most `limit` used windows whose start is in [from, to).
  void windows(ConfigName config, Instant from, Instant to, std::size_t limit,
               Done<Result<Windows>> done);

  // Where so many events would land if they asked now; assigns nothing.
  void preview(BurstAsked burst, Done<Result<core::Burst>> done);

  void confirm(EventId event, std::string request_id, Done<Result<core::Slot>> done);
  // Gives the place in the window back.
  void release(EventId event, std::string request_id, Done<Result<core::Slot>> done);

  void get_config(ConfigName name, Done<Result<core::SlotConfig>> done);
  void put_config(core::SlotConfigDraft draft, std::string request_id,
                  Done<Result<core::SlotConfig>> done);
  // `change` makes the new draft from the config in force; `not_found` when there is none.
  using ConfigMerge =
      std::move_only_function<Result<core::SlotConfigDraft>(const core::SlotConfig&)>;
  void patch_config(ConfigName name, ConfigMerge change, std::string request_id,
                    Done<Result<core::SlotConfig>> done);
  // The active ones behind `after` (empty = all), in the order of their names.
  void list_configs(ConfigName after, std::size_t limit,
                    Done<Result<std::vector<core::SlotConfig>>> done);
  void config_history(ConfigName name, Done<Result<std::vector<core::SlotConfig>>> done);
  // On every node that shares the store; an error when the others could not be told.
  void flush_config_cache(std::string request_id, Done<Result<void>> done);

  const ConfigName& default_config() const noexcept { return options_.default_config; }

  // Finishes what was taken; later calls are answered `overloaded`.
  void stop();

 private:
  struct Instruments {
    explicit Instruments(runtime::Metrics& metrics);
    runtime::Histogram& duration;
    runtime::Histogram& depth;
    runtime::Histogram& delay;
    runtime::Counter& contention;
    runtime::Counter& failures;
    runtime::Counter& expired;
    runtime::Histogram& batch_size;
  };
  using Answer = Result<store::Assignment>;

  std::vector<Answer> execute(std::span<store::SlotRequest> requests);
  Assigned finish(std::vector<Answer> answers, const std::vector<EventId>& events,
                  const std::string& request_id, const runtime::Stopwatch& watch);
  core::Slot accept(store::Assignment&& assignment, const std::string& request_id);
  ConfigName or_default(ConfigName name) const;
  // The active config of `name`, or `not_found`.
  Result<std::shared_ptr<const core::SlotConfig>> active(const ConfigName& name);

  Result<core::SlotConfig> put_now(const core::SlotConfigDraft& draft, std::string_view request_id);

  using Change = Result<core::Slot> (store::SlotLife::*)(const EventId&, std::optional<Instant>);
  Error no_public_slot(const EventId& event, Error not_found);
  void change(Change how, std::string_view what, EventId event, std::string request_id,
              Done<Result<core::Slot>> done);
  // Slots that nobody confirmed in time give their place back.
  void expire(const std::function<bool()>& should_stop);

  const SlotServiceOptions options_;
  store::SlotStore& slots_;
  store::SlotConfigStore& configs_;
  Log& log_;
  Instruments instruments_;
  ConfigCache cache_;
  store::ChangeFeed* const changes_;
  store::SlotLife* const life_;
  const std::uint64_t seed_;
  std::atomic<std::uint64_t> drawn_{0};

  Readers readers_;
  std::unique_ptr<runtime::Ticker> reconciler_;
  runtime::Batcher<store::SlotRequest, Answer> batcher_;  // last: its thread uses all of the above
};

}  // namespace penstock::service
