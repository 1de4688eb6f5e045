#include "wire/payments.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/iso8601.h"
#include "wire/json_digest.h"
#include "wire/json_fields.h"

namespace penstock::wire {
namespace {

enum Field : std::size_t {
  kPaymentId,
  kAmount,
  kCurrency,
  kDebtorIban,
  kCreditorIban,
  kExecutionTime,
  kReference,
  kMetadata,
};
constexpr std::array<std::string_view, 8> kFields = {"paymentId",  "amount",       "currency",
                                                     "debtorIban", "creditorIban", "executionTime",
                                                     "reference",  "metadata"};
constexpr std::size_t kRequiredFields = 6;  // the first of them
constexpr std::size_t kNone = SIZE_MAX;

// A literal segment of a route is no id.
bool is_reserved(const PaymentId& id) { return id.str() == "batch"; }

core::BodyDigest digest_of(const core::PaymentCall& call, std::optional<JsonValue> metadata) {
  JsonDigester digester;
  digester.add(call.amount.minor)
      .add(call.amount.currency.code)
      .add(std::string_view(call.debtor.str()))
      .add(std::string_view(call.creditor.str()))
      .add(to_epoch_millis(call.execution))
      .add(std::string_view(call.reference));
  if (metadata) digester.add(*metadata);
  return digester.finish();
}

// What both forms give once their texts are read.
Result<core::PaymentCall> make_call(PaymentId&& id, const core::PaymentTexts& texts,
                                    Instant execution, std::optional<JsonValue> metadata,
                                    std::size_t metadata_bytes_max) {
  if (is_reserved(id)) return invalid_field("paymentId", "this word is reserved");
  Result<core::PaymentCall> call = core::check_payment(texts);
  if (!call) return call;
  call->id = std::move(id);
  call->execution = execution;
  if (metadata) {
    if (metadata->raw().size() > metadata_bytes_max) {
      return std::unexpected(Error{
          .kind = ErrorKind::too_large,
          .what = "metadata: must be at most " + std::to_string(metadata_bytes_max) + " bytes",
          .field = "metadata"});
    }
    call->metadata = metadata->raw();
  }
  call->digest = digest_of(*call, metadata);
  return call;
}

}  // namespace

Result<core::PaymentCall> decode_payment_call(JsonValue value, std::size_t metadata_bytes_max) {
  JsonFields fields(value);
  auto id = fields.required_id<PaymentId>("paymentId");
  const core::PaymentTexts texts{.amount = fields.required_string("amount"),
                                 .currency = fields.required_string("currency"),
                                 .debtor_iban = fields.required_string("debtorIban"),
                                 .creditor_iban = fields.required_string("creditorIban"),
                                 .reference = fields.optional_string("reference")};
  const Instant execution = fields.required_instant("executionTime");
  const std::optional<JsonValue> metadata = fields.optional_object("metadata");
  if (fields.error()) return std::unexpected(*fields.error());
  return make_call(std::move(id), texts, execution, metadata, metadata_bytes_max);
}

Result<PaymentColumns> PaymentColumns::parse(std::span<const std::string> header) {
  PaymentColumns columns;
  columns.columns_.assign(kFields.size(), kNone);
  columns.size_ = header.size();
  for (std::size_t column = 0; column < header.size(); ++column) {
    const auto field = std::ranges::find(kFields, std::string_view(header[column]));
    if (field == kFields.end()) continue;
    std::size_t& place = columns.columns_[static_cast<std::size_t>(field - kFields.begin())];
    if (place != kNone) return invalid_field(*field, "stands twice in the header");
    place = column;
  }
  for (std::size_t field = 0; field < kRequiredFields; ++field) {
    if (columns.columns_[field] == kNone) {
      return invalid_field(kFields[field], "is not in the header");
    }
  }
  return columns;
}

std::string PaymentColumns::payment_id(std::span<const std::string> row) const {
  const std::size_t column = columns_[kPaymentId];
  return column < row.size() ? row[column] : std::string{};
}

Result<core::PaymentCall> PaymentColumns::decode(std::span<const std::string> row,
                                                 std::size_t metadata_bytes_max) const {
  if (row.size() != size_) {
    return fail(ErrorKind::invalid, "the row has " + std::to_string(row.size()) +
                                        " fields, the header " + std::to_string(size_));
  }
  const auto text = [&](Field field) {
    const std::size_t column = columns_[field];
    return column == kNone ? std::string_view{} : std::string_view(row[column]);
  };
  for (std::size_t field = 0; field < kRequiredFields; ++field) {
    if (text(static_cast<Field>(field)).empty()) {
      return invalid_field(kFields[field], "is required");
    }
  }
  PaymentId id = PENSTOCK_TRY(PaymentId::parse("paymentId", text(kPaymentId)));
  const Result<Instant> execution = parse_instant(text(kExecutionTime));
  if (!execution) return invalid_field("executionTime", execution.error().what);
  core::PaymentTexts texts{.amount = text(kAmount),
                           .currency = text(kCurrency),
                           .debtor_iban = text(kDebtorIban),
                           .creditor_iban = text(kCreditorIban),
                           .reference = std::nullopt};
  if (!text(kReference).empty()) texts.reference = text(kReference);
  if (text(kMetadata).empty()) {
    return make_call(std::move(id), texts, *execution, std::nullopt, metadata_bytes_max);
  }
  const Result<JsonDocument> metadata = parse_json(text(kMetadata));
  if (!metadata) return invalid_field("metadata", metadata.error().what);
  if (metadata->root().type() != JsonType::object) {
    return invalid_field("metadata", "must be a JSON object");
  }
  return make_call(std::move(id), texts, *execution, metadata->root(), metadata_bytes_max);
}

void encode_payment_members(JsonWriter& out, const core::PaymentCall& call) {
  out.member("amount", core::format_money(call.amount))
      .member("currency", call.amount.currency.code)
      .member("debtorIban", call.debtor.str())
      .member("creditorIban", call.creditor.str())
      .member("executionTime", call.execution);
  if (!call.reference.empty()) out.member("reference", call.reference);
  if (!call.metadata.empty()) out.key("metadata").raw(call.metadata);
}

std::string encode_payment_body(const core::PaymentCall& call) {
  JsonWriter out(256 + call.metadata.size());
  out.begin_object();
  encode_payment_members(out, call);
  out.end_object();
  return std::move(out).take();
}

Result<core::PaymentCall> decode_payment_body(const PaymentId& id, std::string_view body) {
  const auto corrupt = [&](const Error& error) {
    return fail(ErrorKind::corrupt, "the record of payment " + id.str() + ": " + error.what);
  };
  const Result<JsonDocument> document = parse_json(body);
  if (!document) return corrupt(document.error());
  JsonFields fields(document->root());
  const core::PaymentTexts texts{.amount = fields.required_string("amount"),
                                 .currency = fields.required_string("currency"),
                                 .debtor_iban = fields.required_string("debtorIban"),
                                 .creditor_iban = fields.required_string("creditorIban"),
                                 .reference = fields.optional_string("reference")};
  const Instant execution = fields.required_instant("executionTime");
  const std::optional<JsonValue> metadata = fields.optional_object("metadata");
  if (fields.error()) return corrupt(*fields.error());
  Result<core::PaymentCall> call = make_call(PaymentId(id), texts, execution, metadata, SIZE_MAX);
  if (!call) return corrupt(call.error());
  return call;
}

std::string encode_payment_context(const core::PaymentCall& call, Instant received) {
  JsonWriter out(384 + call.metadata.size());
  out.begin_object().member("paymentId", call.id.str());
  encode_payment_members(out, call);
  out.member("amountMinor", call.amount.minor)
      .member("debtorCountry", call.debtor.country())
      .member("creditorCountry", call.creditor.country())
      .member("receivedAt", received)
      .end_object();
  return std::move(out).take();
}

Result<core::PaymentStatus> decode_status_report(JsonValue value) {
  JsonFields fields(value);
  const std::string_view name = fields.required_string("status");
  if (fields.error()) return std::unexpected(*fields.error());
  const std::optional<core::PaymentStatus> status = core::payment_status_of(name);
  if (!status) return invalid_field("status", "must be ACCEPTED, PROCESSING or FAILED");
  return *status;
}

Result<core::PaymentRules> decode_payment_rules(JsonValue value, Unknown unknown) {
  if (value.type() != JsonType::array) {
    return fail(ErrorKind::invalid,
                "the request must be an array, not " + std::string(to_string(value.type())));
  }
  core::PaymentRules rules;
  for (JsonValue each = value.first(); each; each = each.next()) {
    const std::string place = "[" + std::to_string(rules.size()) + "]";
    if (each.type() != JsonType::object) {
      return invalid_field(place, "must be an object, not " + std::string(to_string(each.type())));
    }
    PENSTOCK_TRY(read_record(describe<core::PaymentRule>(), &rules.emplace_back(), each,
                             {.unknown = unknown, .path = place + ".", .whole = true}));
    if (rules.size() > core::kPaymentRulesMax) break;  // check_rules says so
  }
  PENSTOCK_TRY(core::check_rules(rules));
  return rules;
}

std::string encode_payment_rules(const core::PaymentRules& rules) {
  JsonWriter out(rules.size() * 160 + 16);
  out.begin_array();
  for (const core::PaymentRule& rule : rules) {
    out.begin_object();
    write_members(out, rule, Secrets::counted);
    out.end_object();
  }
  out.end_array();
  return std::move(out).take();
}

}  // namespace penstock::wire
