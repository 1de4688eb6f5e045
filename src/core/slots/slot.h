// The nouns of slots: what a caller asks, what an event holds, how full a window is. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"

namespace penstock::core {

// One event asking for a time.
struct SlotCall {
  EventId event;
  ConfigName config_name;  // empty = the configured default
  Instant requested{};     // whole milliseconds
  std::optional<Millis> max_delay;
  std::optional<Millis> ttl = {};  // to be confirmed so long after its assignment
};

// Longer, nobody waits for a confirmation any more.
inline constexpr Millis kSlotTtlMax = std::chrono::days{366};

enum class SlotStatus : std::uint8_t { assigned = 0, confirmed = 1, released = 2, expired = 3 };

constexpr std::string_view to_string(SlotStatus status) noexcept {
  switch (status) {
    case SlotStatus::assigned:
      return "ASSIGNED";
    case SlotStatus::confirmed:
      return "CONFIRMED";
    case SlotStatus::released:
      return "RELEASED";
    case SlotStatus::expired:
      return "EXPIRED";
  }
  return "UNKNOWN";
}

// The audit record of one assignment; immutable but for its status.
struct Slot {
  EventId event;
  ConfigName config_name;
  std::int64_t config_version = 0;
  Instant requested{};
  Instant window_start{};
  Instant scheduled{};
  Instant created{};
  SlotStatus status = SlotStatus::assigned;
  std::optional<Instant> confirm_by = {};  // while ASSIGNED, and of one that EXPIRED

  Millis delay() const noexcept { return std::chrono::floor<Millis>(scheduled - requested); }

  friend bool operator==(const Slot&, const Slot&) = default;
};

struct WindowUse {
  Instant start{};
  std::int64_t used = 0;

  friend bool operator==(const WindowUse&, const WindowUse&) = default;
};

}  // namespace penstock::core
