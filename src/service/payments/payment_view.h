// A payment as people see it: what is kept of it and what the queue says of its item, told as one
// story. Pure.
#pragma once

#include <optional>
#include <vector>

#include "store/payments/ports.h"
#include "store/queue/ports.h"

namespace penstock::service {

struct PaymentView {
  store::PaymentRecord payment;
  std::optional<store::ItemView> item;
  core::PaymentStatus status = core::PaymentStatus::scheduled;  // as shown
  std::vector<store::PaymentNote> history;                      // oldest first
};

// The history gets an entry for each time the queue gave the payment up (FAILED) or was told to try
// again (SCHEDULED), as long as it waited for its hand-over.
PaymentView view_payment(store::PaymentRecord payment, std::optional<store::ItemView> item);

}  // namespace penstock::service
