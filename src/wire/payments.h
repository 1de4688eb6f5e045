// Payments and their rules as JSON and CSV, names as in the API contract.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/payments/payment.h"
#include "core/payments/rules.h"
#include "core/payments/status.h"
#include "wire/described.h"
#include "wire/json.h"

namespace penstock::wire {

// {paymentId, amount, currency, debtorIban, creditorIban, executionTime, reference?, metadata?}
Result<core::PaymentCall> decode_payment_call(JsonValue value, std::size_t metadata_bytes_max);

// The same from the rows of a CSV file: the header names the fields, in any order; an empty field
// is absent. Columns of other names are passed over.
class PaymentColumns {
 public:
  // Fails when a name stands twice or a field that is required has no column.
  static Result<PaymentColumns> parse(std::span<const std::string> header);

  Result<core::PaymentCall> decode(std::span<const std::string> row,
                                   std::size_t metadata_bytes_max) const;
  // As far as the row has one.
  std::string payment_id(std::span<const std::string> row) const;

 private:
  std::vector<std::size_t> columns_;  // by field; kNone = not there
  std::size_t size_ = 0;              // fields in a row
};

// What is kept of a payment beside its id: {amount, currency, …, metadata?}.
std::string encode_payment_body(const core::PaymentCall& call);
Result<core::PaymentCall> decode_payment_body(const PaymentId& id, std::string_view body);
// The members of that body, into an object that is open.
void encode_payment_members(JsonWriter& out, const core::PaymentCall& call);

// What the executor gets, enriched: the members of the body and paymentId, amountMinor,
// debtorCountry, creditorCountry and receivedAt.
std::string encode_payment_context(const core::PaymentCall& call, Instant received);

// {status}
Result<core::PaymentStatus> decode_status_report(JsonValue value);

// An array of rules. A store ignores members that this version does not know.
Result<core::PaymentRules> decode_payment_rules(JsonValue value, Unknown unknown = Unknown::refuse);
std::string encode_payment_rules(const core::PaymentRules& rules);

}  // namespace penstock::wire
