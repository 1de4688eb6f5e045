// Port: takes old slots out of the store, in small steps that do not hold up assignment; a backend
// that can takes the oldest windows first. A pruned event is forgotten: its id may be assigned
// anew, and a request for a time whose window was pruned finds that window empty. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "base/result.h"
#include "base/time.h"
#include "core/slots/slot.h"

namespace penstock::store {

struct PruneOptions {
  Instant before{};                // slots of windows that ended by then go; never later than now
  std::size_t step_slots = 1'000;  // in one transaction: some 10 ms
};

struct PruneReport {
  std::uint64_t slots = 0;
  std::uint64_t windows = 0;
};

class SlotRetention {
 public:
  // Gets the slots of one step before they are gone for good; an error keeps them and ends the run.
  // When the store fails between the two, the next run hands out the same slots again: each slot
  // reaches the sink at least once. An empty function deletes without a copy.
  using Sink = std::function<Result<void>(std::span<const core::Slot>)>;

  SlotRetention() = default;
  SlotRetention(const SlotRetention&) = delete;
  SlotRetention& operator=(const SlotRetention&) = delete;
  virtual ~SlotRetention() = default;

  // Runs until nothing old is left. `should_stop`, asked between steps, ends it early without
  // error.
  virtual Result<PruneReport> prune(const PruneOptions& options, const Sink& sink,
                                    const std::function<bool()>& should_stop) = 0;
};

}  // namespace penstock::store
