// wire/payments: a payment that is accepted, from JSON or as a row of CSV, is in range and in one
// form: what is kept of it is the same payment again, JSON and CSV mean the same, and so do rules
// that are written and read again.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/iso8601.h"
#include "wire/batch.h"
#include "wire/json.h"
#include "wire/payments.h"

namespace {

using namespace penstock;

constexpr std::size_t kMetadataMax = 2'000;

bool same(const core::PaymentCall& one, const core::PaymentCall& other) {
  return one.id == other.id && one.amount == other.amount && one.debtor == other.debtor &&
         one.creditor == other.creditor && one.execution == other.execution &&
         one.reference == other.reference && one.metadata == other.metadata &&
         one.digest == other.digest;
}

std::string csv_row(const core::PaymentCall& call) {
  std::string time;
  append_instant(time, call.execution);
  std::string row;
  for (const std::string_view field :
       {std::string_view(call.id.str()), std::string_view(call.amount.currency.code),
        std::string_view(call.creditor.str()), std::string_view(call.debtor.str()),
        std::string_view(time), std::string_view(call.reference),
        std::string_view(call.metadata)}) {
    wire::append_csv_field(row, field);
    row += ',';
  }
  wire::append_csv_field(row, core::format_money(call.amount));
  return row;
}

const wire::PaymentColumns& columns() {
  static const wire::PaymentColumns columns = [] {
    const std::vector<std::string> header = {"paymentId",  "currency",      "creditorIban",
                                             "debtorIban", "executionTime", "reference",
                                             "metadata",   "amount"};
    return *wire::PaymentColumns::parse(header);
  }();
  return columns;
}

void check_call(const Result<core::PaymentCall>& call) {
  if (!call) return PENSTOCK_CHECK(!call.error().what.empty());
  PENSTOCK_CHECK(id_problem(call->id.str()).empty() && call->id.str() != "batch");
  PENSTOCK_CHECK(call->amount.minor > 0 && call->amount.minor < 1'000'000'000'000'000'000);
  PENSTOCK_CHECK(core::Iban::parse(call->debtor.str()) == call->debtor);
  PENSTOCK_CHECK(core::Iban::parse(call->creditor.str()) == call->creditor);
  PENSTOCK_CHECK(call->execution == cut_to_millis(call->execution));
  PENSTOCK_CHECK(call->reference.size() <= core::kReferenceBytesMax);
  PENSTOCK_CHECK(call->metadata.size() <= kMetadataMax);
  const auto kept = wire::decode_payment_body(call->id, wire::encode_payment_body(*call));
  PENSTOCK_CHECK(kept.has_value());
  PENSTOCK_CHECK(same(*kept, *call));
  PENSTOCK_CHECK(wire::parse_json(wire::encode_payment_context(*call, kInstantMin)).has_value());
  // As a row of CSV: fields of one line, since rows here are lines.
  const auto row = wire::parse_csv_row(csv_row(*call));
  if (!row) {
    PENSTOCK_CHECK(csv_row(*call).find_first_of("\r\n") != std::string::npos);
    return;
  }
  const auto from_csv = columns().decode(*row, kMetadataMax);
  PENSTOCK_CHECK(from_csv.has_value());
  PENSTOCK_CHECK(same(*from_csv, *call));
}

void check_rules(const Result<core::PaymentRules>& rules) {
  if (!rules) return PENSTOCK_CHECK(!rules.error().what.empty());
  const std::string text = wire::encode_payment_rules(*rules);
  const auto document = wire::parse_json(text);
  PENSTOCK_CHECK(document.has_value());
  const auto again = wire::decode_payment_rules(document->root());
  PENSTOCK_CHECK(again.has_value());
  PENSTOCK_CHECK(wire::encode_payment_rules(*again) == text);
}

void check_file(std::string_view text) {
  std::optional<wire::PaymentColumns> header;
  bool first = true;
  wire::for_each_csv_row(text, [&](const Result<std::vector<std::string>>& row) {
    if (std::exchange(first, false)) {
      if (!row) return false;
      auto parsed = wire::PaymentColumns::parse(*row);
      if (!parsed) return false;
      header = std::move(*parsed);
      return true;
    }
    if (row) {
      check_call(header->decode(*row, kMetadataMax));
      (void)header->payment_id(*row);
    }
    return true;
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_file(text);
  const Result<wire::JsonDocument> document = wire::parse_json(text);
  if (!document) return 0;
  check_call(wire::decode_payment_call(document->root(), kMetadataMax));
  check_rules(wire::decode_payment_rules(document->root()));
  (void)wire::decode_status_report(document->root());
  return 0;
}
