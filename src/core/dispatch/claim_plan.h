// Chooses how many items a dispatcher claims next: enough that the pace never waits for the store,
// few enough that what a crash leaves behind is a moment's work. Pure; safe on any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include "core/dispatch/pace.h"

namespace penstock::core {

struct ClaimView {
  std::size_t held = 0;        // claimed and not handed over yet
  std::size_t batch_size = 0;  // of the item type
  std::optional<PaceLimit> pace;
};

// Two seconds of a pace: a claim takes milliseconds, a busy store some hundred.
inline constexpr std::int64_t kClaimAheadSeconds = 2;

// 0 = there is enough. Claims again only when half is gone: small claims cost as much as large
// ones.
constexpr std::size_t plan_claim(const ClaimView& view) noexcept {
  std::size_t wanted = 2 * view.batch_size;
  if (view.pace) {
    wanted =
        std::min<std::size_t>(wanted + static_cast<std::size_t>(view.pace->per_second),
                              static_cast<std::size_t>(view.pace->per_second) * kClaimAheadSeconds);
  }
  if (view.held * 2 > wanted) return 0;
  return std::min(view.batch_size, wanted - view.held);
}

}  // namespace penstock::core
