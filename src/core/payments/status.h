// What a payment can be, and how it gets from one status to the next. Pure.
//
//   SCHEDULED -> ACCEPTED -> PROCESSING     executed
//       |            |
//       +------------+----> FAILED          the executor gave up
//   HELD -> SCHEDULED                       released by a person
//   REJECTED                                by a rule; final
//
// SCHEDULED is kept while the queue holds the payment's item; what the queue made of that item says
// whether it is FAILED by now (shown_status), so that a redrive brings it back by itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/dispatch/item.h"

namespace penstock::core {

enum class PaymentStatus : std::uint8_t { scheduled, accepted, processing, rejected, held, failed };
inline constexpr std::size_t kPaymentStatuses = 6;

std::string_view payment_status_name(PaymentStatus status) noexcept;  // "SCHEDULED"
std::optional<PaymentStatus> payment_status_of(std::string_view name) noexcept;

// Where an executor's report may take a payment. HELD is left by a release only.
constexpr bool may_report(PaymentStatus from, PaymentStatus to) noexcept {
  switch (from) {
    case PaymentStatus::scheduled:
      return to == PaymentStatus::accepted || to == PaymentStatus::failed;
    case PaymentStatus::accepted:
      return to == PaymentStatus::processing || to == PaymentStatus::failed;
    case PaymentStatus::processing:
    case PaymentStatus::rejected:
    case PaymentStatus::held:
    case PaymentStatus::failed:
      return false;
  }
  return false;
}

// The status that people see: a payment that still waits for its hand-over is FAILED while its item
// is DEAD or CANCELLED. `item` is none when the payment has no item.
constexpr PaymentStatus shown_status(PaymentStatus kept, std::optional<ItemState> item) noexcept {
  const bool ended = item == ItemState::dead || item == ItemState::cancelled;
  return kept == PaymentStatus::scheduled && ended ? PaymentStatus::failed : kept;
}

}  // namespace penstock::core
