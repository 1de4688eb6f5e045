// An item of dispatch: what a caller asks for, what it can be, and how it gets from one state to
// the next. Pure.
//
//   READY -> CLAIMED -> DISPATCHED          handed over
//     ^         |
//     +---------+                           failed and to be tried again, or given back unsent
//     ^         +----> DEAD -> READY        retries used up or refused for good; redrive
//   READY -> CANCELLED
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"

namespace penstock::core {

enum class ItemState : std::uint8_t { ready, claimed, dispatched, dead, cancelled };
inline constexpr std::size_t kItemStates = 5;

inline constexpr std::array<std::string_view, kItemStates> kItemStateNames = {
    "READY", "CLAIMED", "DISPATCHED", "DEAD", "CANCELLED"};

constexpr std::string_view item_state_name(ItemState state) noexcept {
  return kItemStateNames[static_cast<std::size_t>(state)];
}
constexpr std::optional<ItemState> item_state_of(std::string_view name) noexcept {
  const auto found = std::ranges::find(kItemStateNames, name);
  if (found == kItemStateNames.end()) return std::nullopt;
  return static_cast<ItemState>(found - kItemStateNames.begin());
}

// Nothing moves it any more, but for a redrive.
constexpr bool is_settled(ItemState state) noexcept {
  return state != ItemState::ready && state != ItemState::claimed;
}

// What became of a claimed item.
enum class Outcome : std::uint8_t {
  done,       // handed over
  failed,     // this attempt failed: one retry is used
  refused,    // never to be tried again
  give_back,  // not sent, or told to slow down: nothing is charged
};

struct AfterOutcome {
  ItemState state = ItemState::ready;
  int retry_count = 0;
};

// Where a claimed item goes. `retries_max` attempts may fail; the last of them makes it DEAD.
constexpr AfterOutcome after_outcome(Outcome outcome, int retry_count, int retries_max) noexcept {
  switch (outcome) {
    case Outcome::done:
      return {ItemState::dispatched, retry_count};
    case Outcome::failed:
      return {retry_count + 1 < retries_max ? ItemState::ready : ItemState::dead, retry_count + 1};
    case Outcome::refused:
      return {ItemState::dead, retry_count + 1};
    case Outcome::give_back:
      return {ItemState::ready, retry_count};
  }
  return {ItemState::ready, retry_count};
}

// Says whether two bodies ask for the same: equal for equal JSON, whatever its spaces and order.
using BodyDigest = std::array<std::uint8_t, 16>;

struct SlotAsk {
  ConfigName config;                 // empty = the configured default
  std::optional<Instant> requested;  // none = now
};

// What a caller asks of dispatch: hold this item and release it at its time.
struct ItemCall {
  ItemType type;
  ItemId id;
  std::optional<Instant> due;   // whole milliseconds; this one
  std::optional<SlotAsk> slot;  // or that one
  std::string context;          // JSON text
  BodyDigest digest{};
};

}  // namespace penstock::core
