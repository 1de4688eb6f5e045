// A payment as it was asked for: checked and in one form. Plain data. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "core/dispatch/item.h"
#include "core/payments/iban.h"
#include "core/payments/money.h"

namespace penstock::core {

inline constexpr std::size_t kReferenceBytesMax = 140;  // what a SEPA transfer carries

struct PaymentCall {
  PaymentId id;
  Money amount;
  Iban debtor;
  Iban creditor;
  Instant execution{};    // whole milliseconds
  std::string reference;  // empty = none
  std::string metadata;   // a JSON object as it came; empty = none
  BodyDigest digest{};    // equal for calls that ask for the same
};

// The fields as texts, from whatever form they came in.
struct PaymentTexts {
  std::string_view amount;
  std::string_view currency;
  std::string_view debtor_iban;
  std::string_view creditor_iban;
  std::optional<std::string_view> reference;
};

// Money, accounts and reference of a call; an error names its field as the API does.
Result<PaymentCall> check_payment(const PaymentTexts& texts);

// A time that has passed is now.
constexpr Instant scheduled_time(Instant execution, Instant now) noexcept {
  return execution < now ? cut_to_millis(now) : execution;
}

}  // namespace penstock::core
