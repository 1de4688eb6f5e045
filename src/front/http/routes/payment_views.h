// What the routes of payments answer, as JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "service/payments/payment_service.h"
#include "store/payments/ports.h"
#include "wire/json.h"

namespace penstock::front {

inline constexpr std::string_view kPaymentId = "paymentId";

// The code of an answer: 202 for what is new, 200 for the same again, 422 for what a rule refused,
// now or then; the rest is a conflict.
Result<int> status_of_taken(const store::TakenPayment& taken);

// {paymentId, status, scheduledTime, reason?}
std::string encode_taken_payment(std::string_view id, const store::TakenPayment& taken);
// The same as an entry of a batch: status is the code, state the payment's status.
void encode_taken_entry(wire::JsonWriter& out, std::string_view id,
                        const store::TakenPayment& taken);
// {paymentId, status: "REJECTED", reason}
void encode_refusal(wire::JsonWriter& out, std::string_view id, const store::TakenPayment& taken);

// All of it, with queue and history; fails when what is kept cannot be read.
Result<std::string> encode_payment_view(const service::PaymentView& view);
// {paymentId, status, scheduledTime, reason?}
void encode_payment_row(wire::JsonWriter& out, const store::PaymentRow& row);

}  // namespace penstock::front
