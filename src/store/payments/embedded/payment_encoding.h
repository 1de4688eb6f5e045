// The bytes of payments and of their rules; as encoding.h for the rest. Pure.
//
//   payment        payment id                          -> kFormat record, its history
//   payment_order  't', scheduled us, payment id       -> kFormat; every payment, for the walk over
//                                                         old ones
//                  's', u8 status, payment id          -> kFormat; those HELD and REJECTED, which
//                                                         people look for among millions of others
//   meta           "payment_rules"                     -> kFormat u64 revision, changed us, JSON
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "store/payments/ports.h"

namespace penstock::store::embedded {

struct PaymentEntry {
  PaymentStatus status = PaymentStatus::scheduled;
  Instant created{};
  Instant scheduled{};
  core::BodyDigest digest{};
  std::string reason;
  std::string trail;  // the history, encoded
  std::string body;

  friend bool operator==(const PaymentEntry&, const PaymentEntry&) = default;
};

std::string encode_payment(const PaymentEntry& payment);
Result<PaymentEntry> decode_payment(std::string_view value);

// Appends; a detail that is too long is cut.
void put_payment_note(std::string& out, const PaymentNote& note);
Result<std::vector<PaymentNote>> decode_payment_notes(std::string_view value);

// Those of a status that has an index.
constexpr bool is_indexed(PaymentStatus status) noexcept {
  return status == PaymentStatus::held || status == PaymentStatus::rejected;
}

inline constexpr char kPaymentTimeTag = 't';
inline constexpr char kPaymentStatusTag = 's';

std::string payment_time_key(Instant scheduled, std::string_view id = {});
Result<PaymentPlace> decode_payment_time_key(std::string_view key);
std::string payment_status_key(PaymentStatus status, std::string_view id = {});
Result<PaymentId> decode_payment_status_key(std::string_view key);

inline constexpr std::string_view kPaymentRulesKey = "payment_rules";
std::string encode_payment_rule_record(const PaymentRuleRecord& record);
Result<PaymentRuleRecord> decode_payment_rule_record(std::string_view value);

}  // namespace penstock::store::embedded
