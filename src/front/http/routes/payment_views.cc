#include "front/http/routes/payment_views.h"

#include <utility>

#include "core/payments/status.h"
#include "wire/payments.h"

#include "front/http/routes/exchange.h"

namespace penstock::front {
namespace {

using wire::JsonWriter;

void reason_if_any(JsonWriter& out, const std::string& reason) {
  if (!reason.empty()) out.member("reason", reason);
}

void encode_queue(JsonWriter& out, const std::optional<store::ItemView>& item) {
  out.key("queue");
  if (!item) {
    out.null();
    return;
  }
  out.begin_object()
      .member("status", core::item_state_name(item->state))
      .member("scheduledTime", item->scheduled)
      .member("retryCount", item->retry_count)
      .member("attempts", item->attempts);
  text_or_null(out, "lastError", item->last_error);
  out.end_object();
}

void encode_note(JsonWriter& out, const store::PaymentNote& note) {
  out.begin_object().member("at", note.at).key("from");
  note.from ? out.value(core::payment_status_name(*note.from)) : out.null();
  out.member("to", core::payment_status_name(note.to));
  text_or_null(out, "detail", note.detail);
  out.end_object();
}

}  // namespace

Result<int> status_of_taken(const store::TakenPayment& taken) {
  if (taken.result == store::TakeResult::different) {
    return fail(ErrorKind::conflict, "this payment is known with another body");
  }
  if (taken.status == core::PaymentStatus::rejected) return 422;
  return taken.result == store::TakeResult::created ? 202 : 200;
}

std::string encode_taken_payment(std::string_view id, const store::TakenPayment& taken) {
  JsonWriter out;
  out.begin_object()
      .member(kPaymentId, id)
      .member("status", core::payment_status_name(taken.shown()))
      .member("scheduledTime", taken.scheduled);
  if (taken.status == core::PaymentStatus::held) reason_if_any(out, taken.reason);
  out.end_object();
  return std::move(out).take();
}

void encode_refusal(JsonWriter& out, std::string_view id, const store::TakenPayment& taken) {
  out.begin_object()
      .member(kPaymentId, id)
      .member("status", core::payment_status_name(taken.status))
      .member("reason", taken.reason)
      .end_object();
}

void encode_taken_entry(JsonWriter& out, std::string_view id, const store::TakenPayment& taken) {
  const Result<int> status = status_of_taken(taken);
  if (!status) return encode_failure(out, kPaymentId, id, status.error());
  if (*status == 422) {
    begin_failure(out, kPaymentId, id, *status, taken.reason).key("payment");
    encode_refusal(out, id, taken);
    out.end_object();
    return;
  }
  out.begin_object()
      .member(kPaymentId, id)
      .member("status", *status)
      .member("state", core::payment_status_name(taken.shown()))
      .member("scheduledTime", taken.scheduled);
  if (taken.status == core::PaymentStatus::held) reason_if_any(out, taken.reason);
  out.end_object();
}

Result<std::string> encode_payment_view(const service::PaymentView& view) {
  const store::PaymentRecord& payment = view.payment;
  const Result<core::PaymentCall> call = wire::decode_payment_body(payment.id, payment.body);
  if (!call) return std::unexpected(call.error());
  JsonWriter out(768 + payment.body.size());
  out.begin_object().member(kPaymentId, payment.id.str());
  wire::encode_payment_members(out, *call);
  out.member("status", core::payment_status_name(view.status));
  reason_if_any(out, payment.reason);
  out.member("scheduledTime", view.item ? view.item->scheduled : payment.scheduled)
      .member("createdAt", payment.created);
  encode_queue(out, view.item);
  out.key("history").begin_array();
  for (const store::PaymentNote& note : view.history) encode_note(out, note);
  out.end_array().end_object();
  return std::move(out).take();
}

void encode_payment_row(JsonWriter& out, const store::PaymentRow& row) {
  out.begin_object()
      .member(kPaymentId, row.id.str())
      .member("status", core::payment_status_name(row.shown()))
      .member("scheduledTime", row.scheduled);
  reason_if_any(out, row.reason);
  out.end_object();
}

}  // namespace penstock::front
