#include "core/payments/currency.h"

#include <array>
#include <cstddef>

namespace penstock::core {
namespace {

// Codes of three letters one after the other.
constexpr std::string_view kNoDigits = "BIFCLPDJFGNFISKJPYKMFKRWPYGRWFUGXUYIVNDVUVXAFXOFXPF";
constexpr std::string_view kTwoDigits =
    "AEDAFNALLAMDAOAARSAUDAWGAZNBAMBBDBDTBMDBNDBOBBOVBRLBSDBTNBWPBYNBZDCADCDFCHECHFCHWCNYCOPCOUCRC"
    "CUPCVECZKDKKDOPDZDEGPERNETBEURFJDFKPGBPGELGHSGIPGMDGTQGYDHKDHNLHTGHUFIDRILSINRIRRJMDKESKGSKHR"
    "KPWKYDKZTLAKLBPLKRLRDLSLMADMDLMGAMKDMMKMNTMOPMRUMURMVRMWKMXNMXVMYRMZNNADNGNNIONOKNPRNZDPABPEN"
    "PGKPHPPKRPLNQARRONRSDRUBSARSBDSCRSDGSEKSGDSHPSLESOSSRDSSPSTNSVCSYPSZLTHBTJSTMTTOPTRYTTDTWDTZS"
    "UAHUSDUSNUYUUZSVEDVESWSTXCDXCGYERZARZMWZWG";
constexpr std::string_view kThreeDigits = "BHDIQDJODKWDLYDOMRTND";
constexpr std::string_view kFourDigits = "CLFUYW";

struct List {
  std::string_view codes;
  int digits;
};
constexpr std::array<List, 4> kLists = {
    {{kTwoDigits, 2}, {kNoDigits, 0}, {kThreeDigits, 3}, {kFourDigits, kFractionDigitsMax}}};

}  // namespace

std::optional<Currency> currency_of(std::string_view code) noexcept {
  if (code.size() != 3) return std::nullopt;
  for (const List& list : kLists) {
    for (std::size_t at = 0; at < list.codes.size(); at += 3) {
      if (list.codes.substr(at, 3) == code) {
        return Currency{.code = list.codes.substr(at, 3), .digits = list.digits};
      }
    }
  }
  return std::nullopt;
}

}  // namespace penstock::core
