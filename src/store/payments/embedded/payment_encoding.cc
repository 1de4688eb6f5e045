#include "store/payments/embedded/payment_encoding.h"

#include <utility>

#include "engine/rocksdb/bytes.h"
#include "store/queue/ports.h"
#include "wire/payments.h"

namespace penstock::store::embedded {
namespace {

constexpr std::uint8_t kNoStatus = 0xff;

}  // namespace

void lay_out(auto& io, Is<PaymentEntry> auto& payment) {
  io.format();
  io.choice(payment.status, core::kPaymentStatuses);
  io.micros(payment.created);
  io.micros(payment.scheduled);
  io.bytes(payment.digest);
  io.long_text(payment.reason);
  io.long_text(payment.trail);
  io.long_text(payment.body);
}

std::string encode_payment(const PaymentEntry& payment) { return encoded(payment); }

Result<PaymentEntry> decode_payment(std::string_view value) {
  return decoded<PaymentEntry>("the record of a payment", value);
}

void put_payment_note(std::string& out, const PaymentNote& note) {
  put_micros(out, note.at);
  put_number(out, note.from ? static_cast<std::uint8_t>(*note.from) : kNoStatus);
  put_number(out, static_cast<std::uint8_t>(note.to));
  put_long_text(out, std::string_view(note.detail).substr(0, kDetailBytesMax));
}

Result<std::vector<PaymentNote>> decode_payment_notes(std::string_view value) {
  ByteReader reader("the history of a payment", value);
  std::vector<PaymentNote> notes;
  while (!reader.at_end()) {
    PaymentNote note;
    note.at = reader.micros();
    const auto from = reader.number<std::uint8_t>();
    if (from < core::kPaymentStatuses) {
      note.from = static_cast<PaymentStatus>(from);
    } else if (from != kNoStatus) {
      reader.refuse("has an unknown status");
    }
    reader.choice(note.to, core::kPaymentStatuses);
    note.detail = reader.long_text();
    notes.push_back(std::move(note));
  }
  return reader.done(std::move(notes));
}

std::string payment_time_key(Instant scheduled, std::string_view id) {
  std::string out(1, kPaymentTimeTag);
  put_sorted_micros(out, scheduled);
  out.append(id);
  return out;
}

Result<PaymentPlace> decode_payment_time_key(std::string_view key) {
  ByteReader reader("the key of a payment's time", key);
  reader.tag(kPaymentTimeTag);
  PaymentPlace place;
  place.scheduled = reader.sorted_micros();
  place.id = reader.id_of<PaymentId>(reader.rest());
  return reader.done(std::move(place));
}

std::string payment_status_key(PaymentStatus status, std::string_view id) {
  std::string out(1, kPaymentStatusTag);
  put_number(out, static_cast<std::uint8_t>(status));
  out.append(id);
  return out;
}

Result<PaymentId> decode_payment_status_key(std::string_view key) {
  ByteReader reader("the key of a payment's status", key);
  reader.tag(kPaymentStatusTag);
  PaymentStatus status{};
  reader.choice(status, core::kPaymentStatuses);
  auto id = reader.id_of<PaymentId>(reader.rest());
  return reader.done(std::move(id));
}

std::string encode_payment_rule_record(const PaymentRuleRecord& record) {
  std::string out;
  put_number(out, kFormat);
  put_number(out, record.revision);
  put_micros(out, record.changed);
  put_long_text(out, wire::encode_payment_rules(record.rules));
  return out;
}

Result<PaymentRuleRecord> decode_payment_rule_record(std::string_view value) {
  ByteReader reader("the record of the payment rules", value);
  reader.format();
  PaymentRuleRecord record;
  record.revision = reader.number<std::uint64_t>();
  record.changed = reader.micros();
  const std::string_view json = reader.long_text();
  const Result<wire::JsonDocument> document = wire::parse_json(json);
  Result<core::PaymentRules> rules =
      document ? wire::decode_payment_rules(document->root(), wire::Unknown::ignore)
               : std::unexpected(document.error());
  if (rules) {
    record.rules = std::move(*rules);
  } else {
    reader.refuse("does not hold rules");
  }
  return reader.done(std::move(record));
}

}  // namespace penstock::store::embedded
