#include "core/gateway/delivery.h"

#include <algorithm>
#include <map>
#include <utility>

namespace penstock::core {
namespace {

// Of two reports on one part that was sent twice: one that arrived is there, whatever became of the
// other; else what is not final may still turn out well.
int merit(DeliveryState state) noexcept {
  if (state == DeliveryState::delivered) return 2;
  return is_final(state) ? 0 : 1;
}

const DeliveryPart& better(const DeliveryPart& one, const DeliveryPart& other) noexcept {
  if (merit(one.state) != merit(other.state)) {
    return merit(one.state) > merit(other.state) ? one : other;
  }
  return one.at >= other.at ? one : other;
}

}  // namespace

std::string_view delivery_state_name(DeliveryState state) noexcept {
  switch (state) {
    case DeliveryState::pending:
      return "PENDING";
    case DeliveryState::enroute:
      return "ENROUTE";
    case DeliveryState::accepted:
      return "ACCEPTED";
    case DeliveryState::unknown:
      return "UNKNOWN";
    case DeliveryState::delivered:
      return "DELIVERED";
    case DeliveryState::expired:
      return "EXPIRED";
    case DeliveryState::deleted:
      return "DELETED";
    case DeliveryState::undeliverable:
      return "UNDELIVERABLE";
    case DeliveryState::rejected:
      return "REJECTED";
  }
  return "";
}

std::optional<Delivery> sum_up_delivery(std::span<const DeliveryPart> parts) {
  if (parts.empty()) return std::nullopt;
  std::map<int, const DeliveryPart*> best;  // by number
  Delivery delivery;
  for (const DeliveryPart& part : parts) {
    const auto [found, added] = best.try_emplace(part.part, &part);
    if (!added) found->second = &better(*found->second, part);
    delivery.parts = std::max(delivery.parts, part.parts);
  }
  const DeliveryPart* decisive = nullptr;
  // Failed beats open, open beats delivered; among equals the newest report.
  const auto rank = [](const DeliveryPart& part) { return std::pair(-merit(part.state), part.at); };
  for (const auto& [number, part] : best) {
    if (part->state == DeliveryState::delivered) ++delivery.delivered;
    if (decisive == nullptr || rank(*part) > rank(*decisive)) decisive = part;
  }
  delivery.state = decisive->state;
  delivery.at = decisive->at;
  delivery.detail = decisive->detail;
  // Parts that nothing is known of: the message cannot be further than on its way.
  if (delivery.state == DeliveryState::delivered && delivery.delivered < delivery.parts) {
    delivery.state = DeliveryState::enroute;
  }
  return delivery;
}

}  // namespace penstock::core
