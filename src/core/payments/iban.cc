#include "core/payments/iban.h"

#include <algorithm>
#include <cstddef>

namespace penstock::core {
namespace {

// The registry of SWIFT: country and length, four characters each.
constexpr std::string_view kLengths =
    "AD24AE23AL28AT20AZ28BA20BE16BG22BH22BI27BR29BY28CH21CR22CY28CZ24DE22DJ27DK18DO28EE20EG29ES24"
    "FI18FK18FO18FR27GB22GE22GI23GL18GR27GT28HN28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32"
    "LI21LT20LU20LV21LY25MC27MD24ME22MK19MN20MR27MT31MU30NI28NL18NO15OM23PK24PL28PS29PT25QA29RO24"
    "RS22RU33SA24SC31SD18SE24SI19SK24SM27SO23ST25SV28TL23TN24TR26UA29VA22VG24XK20YE30";
constexpr std::size_t kCharactersMax = 34;  // ISO 13616

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_capital(char c) noexcept { return c >= 'A' && c <= 'Z'; }

std::size_t length_of(std::string_view country) noexcept {
  for (std::size_t at = 0; at < kLengths.size(); at += 4) {
    if (kLengths.substr(at, 2) != country) continue;
    const int length = (kLengths[at + 2] - '0') * 10 + (kLengths[at + 3] - '0');
    return static_cast<std::size_t>(length);
  }
  return 0;
}

// ISO 7064: the first four characters go behind the rest, letters are two digits (A = 10), and the
// number leaves 1 when divided by 97.
bool checks_out(std::string_view iban) noexcept {
  unsigned left = 0;
  const auto feed = [&](char c) {
    left = is_digit(c) ? (left * 10 + static_cast<unsigned>(c - '0')) % 97
                       : (left * 100 + static_cast<unsigned>(c - 'A') + 10) % 97;
  };
  std::ranges::for_each(iban.substr(4), feed);
  std::ranges::for_each(iban.substr(0, 4), feed);
  return left == 1;
}

}  // namespace

bool has_ibans(std::string_view country) noexcept { return length_of(country) != 0; }

Result<Iban> Iban::parse(std::string_view text) {
  std::string iban;
  iban.reserve(kCharactersMax);
  for (char c : text) {
    if (c == ' ') continue;
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (!is_digit(c) && !is_capital(c)) {
      return fail(ErrorKind::invalid, "must be an IBAN: letters and digits");
    }
    if (iban.size() == kCharactersMax) {
      return fail(ErrorKind::invalid, "must be an IBAN of at most 34 characters");
    }
    iban.push_back(c);
  }
  if (iban.size() < 4 || !is_capital(iban[0]) || !is_capital(iban[1]) || !is_digit(iban[2]) ||
      !is_digit(iban[3])) {
    return fail(ErrorKind::invalid, "must be an IBAN: a country, two digits and the account");
  }
  const std::string country = iban.substr(0, 2);
  const std::size_t length = length_of(country);
  if (length == 0) {
    return fail(ErrorKind::invalid, "must be an IBAN: there are none of country " + country);
  }
  if (iban.size() != length) {
    return fail(ErrorKind::invalid, "must be an IBAN: those of " + country + " have " +
                                        std::to_string(length) + " characters");
  }
  if (!checks_out(iban)) {
    return fail(ErrorKind::invalid, "must be an IBAN: the check digits are wrong");
  }
  return Iban(std::move(iban));
}

}  // namespace penstock::core
