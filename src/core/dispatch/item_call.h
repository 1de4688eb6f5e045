// What a caller asks of dispatch: hold this item and release it at its time. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/time.h"

namespace penstock::core {

// Says whether two bodies ask for the same: equal for equal JSON, whatever its spaces and order.
using BodyDigest = std::array<std::uint8_t, 16>;

struct SlotAsk {
  ConfigName config;                 // empty = the configured default
  std::optional<Instant> requested;  // none = now
};

struct ItemCall {
  ItemType type;
  ItemId id;
  std::optional<Instant> due;   // whole milliseconds; this one
  std::optional<SlotAsk> slot;  // or that one
  std::string context;          // JSON text
  BodyDigest digest{};
};

}  // namespace penstock::core
