// Account numbers by ISO 13616: a country, two check digits and what the country's banks agreed on,
// of a length that the country fixes. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace penstock::core {

class Iban {
 public:
  Iban() = default;  // none

  // Spaces between groups are passed over and small letters taken as capitals, as people write
  // them. The error's `what` is a predicate without a name, for the caller to put its field before.
  static Result<Iban> parse(std::string_view text);
  // For text that we wrote ourselves (stores): no check.
  static Iban trusted(std::string text) { return Iban(std::move(text)); }

  const std::string& str() const noexcept { return text_; }  // canonical: capitals, no spaces
  std::string_view country() const noexcept { return std::string_view(text_).substr(0, 2); }
  bool empty() const noexcept { return text_.empty(); }

  friend bool operator==(const Iban&, const Iban&) = default;

 private:
  explicit Iban(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

// Whether accounts of this country have an IBAN at all.
bool has_ibans(std::string_view country) noexcept;

}  // namespace penstock::core
