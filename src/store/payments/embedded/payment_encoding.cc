#include "store/payments/embedded/payment_encoding.h"

#include <utility>

#include "engine/rocksdb/bytes.h"
#include "store/queue/ports.h"
#include "wire/payments.h"

namespace penstock::store::embedded {
namespace {

constexpr std::uint8_t kNoStatus = 0xff;

class PaymentReader : public ByteReader {
 public:
  using ByteReader::ByteReader;

  PaymentStatus status(std::uint8_t byte) {
    if (byte < core::kPaymentStatuses) return static_cast<PaymentStatus>(byte);
    refuse("has an unknown status");
    return PaymentStatus::scheduled;
  }
  PaymentStatus status() { return status(number<std::uint8_t>()); }

  PaymentId id() {
    const std::string_view text = rest();
    if (id_problem(text).empty()) return PaymentId::trusted(std::string(text));
    refuse("has a malformed id");
    return {};
  }

  void tag(char expected) {
    if (number<std::uint8_t>() != static_cast<std::uint8_t>(expected)) refuse("is of another kind");
  }
};

}  // namespace

void encode_payment(const PaymentEntry& payment, std::string& out) {
  out.clear();
  put_number(out, kFormat);
  put_number(out, static_cast<std::uint8_t>(payment.status));
  put_micros(out, payment.created);
  put_micros(out, payment.scheduled);
  out.append(payment.digest.begin(), payment.digest.end());
  put_long_text(out, payment.reason);
  put_long_text(out, payment.trail);
  put_long_text(out, payment.body);
}

Result<PaymentEntry> decode_payment(std::string_view value) {
  PaymentReader reader("the record of a payment", value);
  reader.format();
  PaymentEntry payment;
  payment.status = reader.status();
  payment.created = reader.micros();
  payment.scheduled = reader.micros();
  for (std::uint8_t& byte : payment.digest) byte = reader.number<std::uint8_t>();
  payment.reason = reader.long_text();
  payment.trail = reader.long_text();
  payment.body = reader.long_text();
  return reader.done(std::move(payment));
}

void put_payment_note(std::string& out, const PaymentNote& note) {
  put_micros(out, note.at);
  put_number(out, note.from ? static_cast<std::uint8_t>(*note.from) : kNoStatus);
  put_number(out, static_cast<std::uint8_t>(note.to));
  put_long_text(out, std::string_view(note.detail).substr(0, kDetailBytesMax));
}

Result<std::vector<PaymentNote>> decode_payment_notes(std::string_view value) {
  PaymentReader reader("the history of a payment", value);
  std::vector<PaymentNote> notes;
  while (!reader.at_end()) {
    PaymentNote note;
    note.at = reader.micros();
    const auto from = reader.number<std::uint8_t>();
    if (from != kNoStatus) note.from = reader.status(from);
    note.to = reader.status();
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
  PaymentReader reader("the key of a payment's time", key);
  reader.tag(kPaymentTimeTag);
  PaymentPlace place;
  place.scheduled = reader.sorted_micros();
  place.id = reader.id();
  return reader.done(std::move(place));
}

std::string payment_status_key(PaymentStatus status, std::string_view id) {
  std::string out(1, kPaymentStatusTag);
  put_number(out, static_cast<std::uint8_t>(status));
  out.append(id);
  return out;
}

Result<PaymentId> decode_payment_status_key(std::string_view key) {
  PaymentReader reader("the key of a payment's status", key);
  reader.tag(kPaymentStatusTag);
  reader.status();
  PaymentId id = reader.id();
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
  PaymentReader reader("the record of the payment rules", value);
  reader.format();
  PaymentRuleRecord record;
  record.revision = reader.number<std::uint64_t>();
  record.changed = reader.micros();
  const std::string_view json = reader.long_text();
  const Result<wire::JsonDocument> document = wire::parse_json(json);
  Result<core::PaymentRules> rules =
      document ? wire::decode_payment_rules(document->root()) : std::unexpected(document.error());
  if (rules) {
    record.rules = std::move(*rules);
  } else {
    reader.refuse("does not hold rules");
  }
  return reader.done(std::move(record));
}

}  // namespace penstock::store::embedded
