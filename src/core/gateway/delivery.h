// What became of a message after its provider took it, as far as the provider says. Plain data and
// pure rules.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"

namespace penstock::core {

// Stored by number: those from `delivered` on are final.
enum class DeliveryState : std::uint8_t {
  pending,   // taken; nothing is known yet
  enroute,   // on its way
  accepted,  // read by somebody at the provider on behalf of the phone
  unknown,   // the provider does not know
  delivered,
  expired,
  deleted,
  undeliverable,
  rejected,
};
inline constexpr DeliveryState kDeliveryStateMax = DeliveryState::rejected;

std::string_view delivery_state_name(DeliveryState state) noexcept;  // "DELIVERED"

constexpr bool is_final(DeliveryState state) noexcept { return state >= DeliveryState::delivered; }

// Whether news of `next` stand over what is known: reports overtake each other, and what is final
// is not undone by a step on the way to it.
constexpr bool replaces(DeliveryState next, DeliveryState known) noexcept {
  return is_final(next) || !is_final(known);
}

inline constexpr int kPartsMax = 255;

// One part of a message, as it was taken once. A message that was sent again has more of them.
struct DeliveryPart {
  int part = 1;  // from 1
  int parts = 1;
  DeliveryState state = DeliveryState::pending;
  std::optional<Instant> at;  // of the report; none while pending
  std::string detail;         // the provider's words

  friend bool operator==(const DeliveryPart&, const DeliveryPart&) = default;
};

struct Delivery {
  DeliveryState state = DeliveryState::pending;
  std::optional<Instant> at;  // of the newest report that says so
  std::string detail;         // of the same
  int parts = 1;
  int delivered = 0;  // of the parts

  friend bool operator==(const Delivery&, const Delivery&) = default;
};

// None without parts. A message is delivered when each of its parts is, whichever time it was sent;
// it has failed when one of them has. Else the least that is known of any part stands.
std::optional<Delivery> sum_up_delivery(std::span<const DeliveryPart> parts);

}  // namespace penstock::core
