#include "core/payments/status.h"

#include <array>
#include <cstddef>

namespace penstock::core {
namespace {

constexpr std::array<std::string_view, kPaymentStatuses> kPaymentStatusNames = {
    "SCHEDULED", "ACCEPTED", "PROCESSING", "REJECTED", "HELD", "FAILED"};

}  // namespace

std::string_view payment_status_name(PaymentStatus status) noexcept {
  return kPaymentStatusNames[static_cast<std::size_t>(status)];
}

std::optional<PaymentStatus> payment_status_of(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kPaymentStatusNames.size(); ++i) {
    if (kPaymentStatusNames[i] == name) return static_cast<PaymentStatus>(i);
  }
  return std::nullopt;
}

}  // namespace penstock::core
