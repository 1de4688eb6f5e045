// The nouns of slots: what a caller asks, what an event holds, how full a window is. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"

namespace penstock::core {

// Whose slot it is, is part of its event id: slots that dispatch takes for its items have ids that
// begin with a space. Ids from outside have none, so no public event is ever an item's. Only these
// functions know the mark; people see shown_id() and owner_of().
inline constexpr char kItemEventMark = ' ';

inline EventId item_event(std::string_view item) {  // {itemType}:{itemId}
  return EventId::trusted(kItemEventMark + std::string(item));
}
inline bool is_item_event(const EventId& event) noexcept {
  return event.str().starts_with(kItemEventMark);
}
inline std::string_view shown_id(const EventId& event) noexcept {
  return std::string_view(event.str()).substr(is_item_event(event) ? 1 : 0);
}
// Empty = a public event.
inline std::string_view owner_of(const EventId& event) noexcept {
  return is_item_event(event) ? "dispatch" : "";
}

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
