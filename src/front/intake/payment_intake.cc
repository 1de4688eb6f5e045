#include "front/intake/payment_intake.h"

#include <utility>
#include <vector>

#include "front/intake/take_messages.h"
#include "wire/json.h"
#include "wire/payments.h"

namespace penstock::front {
namespace {

using PaymentAnswer = Result<store::TakenPayment>;

kafka::Verdict judge(const PaymentAnswer& taken) {
  if (!taken) return verdict_of(taken.error());
  if (taken->result == store::TakeResult::different) {
    return poison("this payment is known with another body");
  }
  return {};
}

}  // namespace

kafka::Handler payment_intake(service::PaymentService& payments, std::size_t metadata_bytes_max) {
  return [&payments, metadata_bytes_max](std::span<const kafka::IncomingMessage> messages) {
    const auto read =
        [metadata_bytes_max](const kafka::IncomingMessage& message) -> Result<core::PaymentCall> {
      const wire::JsonDocument document = PENSTOCK_TRY(wire::parse_json(message.value));
      return wire::decode_payment_call(document.root(), metadata_bytes_max);
    };
    const auto take = [&payments](std::vector<core::PaymentCall>&& calls, auto&& done) {
      payments.take(std::move(calls), "kafka", std::forward<decltype(done)>(done));
    };
    return take_messages<PaymentAnswer>(messages, read, take, judge);
  };
}

}  // namespace penstock::front
