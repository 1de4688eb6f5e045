#include "core/dispatch/item.h"

#include <array>
#include <cstddef>

namespace penstock::core {
namespace {

constexpr std::array<std::string_view, kItemStates> kItemStateNames = {
    "READY", "CLAIMED", "DISPATCHED", "DEAD", "CANCELLED"};

}  // namespace

std::string_view item_state_name(ItemState state) noexcept {
  return kItemStateNames[static_cast<std::size_t>(state)];
}

std::optional<ItemState> item_state_of(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kItemStateNames.size(); ++i) {
    if (kItemStateNames[i] == name) return static_cast<ItemState>(i);
  }
  return std::nullopt;
}

}  // namespace penstock::core
