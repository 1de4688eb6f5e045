#include "core/slots/slot_config.h"

#include <string_view>

namespace penstock::core {

Result<void> validate(const SlotConfigDraft& draft) {
  if (const std::string_view problem = id_problem(draft.name.str()); !problem.empty()) {
    return invalid_field("configName", problem);
  }
  if (!draft.pool.empty()) {
    if (const std::string_view problem = id_problem(draft.pool.str()); !problem.empty()) {
      return invalid_field("pool", problem);
    }
  }
  // The texts below spell out the constants of the header; a test holds them together.
  if (draft.max_per_window < kMaxPerWindowMin || draft.max_per_window > kMaxPerWindowMax) {
    return invalid_field("maxPerWindow", "must be from 1 to 10000000");
  }
  if (draft.window_size < kWindowSizeMin || draft.window_size > kWindowSizeMax) {
    return invalid_field("windowSize", "must be from PT0.001S to P1D");
  }
  return {};
}

}  // namespace penstock::core
