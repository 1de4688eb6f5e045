#include "core/payments/payment.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace penstock::core {
namespace {

// Puts the field's name before what is wrong with it.
template <class T>
bool take(std::string_view field, Result<T>&& from, T& to, std::optional<Error>& error) {
  if (error) return false;
  if (!from) {
    error = invalid_field(field, from.error().what).error();
    return false;
  }
  to = std::move(*from);
  return true;
}

std::string_view reference_problem(std::string_view reference) {
  if (reference.size() > kReferenceBytesMax) return "must be at most 140 bytes";
  const bool control =
      std::ranges::any_of(reference, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (control) return "must not hold control characters";
  // A file of another encoding: the text would be another one when it is written down as JSON.
  for (std::string_view rest = reference; !rest.empty();) {
    const std::size_t length = utf8_length(rest);
    if (length == 0) return "must be UTF-8";
    rest.remove_prefix(length);
  }
  return "";
}

}  // namespace

Result<PaymentCall> check_payment(const PaymentTexts& texts) {
  PaymentCall call;
  const std::optional<Currency> currency = currency_of(texts.currency);
  if (!currency) {
    return invalid_field("currency", "must be a code of ISO 4217 in capitals, like EUR");
  }
  std::optional<Error> error;
  take("amount", parse_money(texts.amount, *currency), call.amount, error);
  take("debtorIban", Iban::parse(texts.debtor_iban), call.debtor, error);
  take("creditorIban", Iban::parse(texts.creditor_iban), call.creditor, error);
  if (error) return std::unexpected(std::move(*error));
  if (texts.reference) {
    const std::string_view problem = reference_problem(*texts.reference);
    if (!problem.empty()) return invalid_field("reference", problem);
    call.reference = *texts.reference;
  }
  return call;
}

}  // namespace penstock::core
