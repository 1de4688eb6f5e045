// Port: the versioned slot configs. A backend proves itself with store/conformance/.
// Implementations are blocking and safe to call from several threads at once.
#pragma once

#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "core/slots/slot_config.h"

namespace penstock::store {

struct SlotConfigChange {
  core::SlotConfig current;
  std::optional<core::SlotConfig> previous;  // the version that `current` superseded
};

class SlotConfigStore {
 public:
  SlotConfigStore() = default;
  SlotConfigStore(const SlotConfigStore&) = delete;
  SlotConfigStore& operator=(const SlotConfigStore&) = delete;
  virtual ~SlotConfigStore() = default;

  // The active version of `name`, if there is one.
  virtual Result<std::optional<core::SlotConfig>> find(const ConfigName& name) = 0;

  // Adds the next version and deactivates the one before, atomically and durably. `conflict` when
  // another active config of the pool has another window size, or when this changes the window size
  // of its pool while the pool holds assignments in windows that have not ended at `now`.
  virtual Result<SlotConfigChange> put(const core::SlotConfigDraft& draft,
                                       std::optional<Instant> now) = 0;

  // All versions of `name`, newest first, at most `limit`.
  virtual Result<std::vector<core::SlotConfig>> history(const ConfigName& name,
                                                        std::size_t limit) = 0;

  // The active configs ordered by name, after `after` (empty = from the start), at most `limit`.
  virtual Result<std::vector<core::SlotConfig>> list(const ConfigName& after,
                                                     std::size_t limit) = 0;
};

}  // namespace penstock::store
