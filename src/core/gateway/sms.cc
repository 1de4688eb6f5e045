#include "core/gateway/sms.h"

#include <algorithm>
#include <array>

namespace penstock::core {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

// The next character, and `text` without it. A broken sequence is one U+FFFD a byte.
char32_t take_character(std::string_view& text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  std::size_t size = 1;
  char32_t character = lead;
  char32_t least = 0;
  if (lead >= 0xF0 && lead < 0xF5) {
    size = 4, character = lead & 0x07, least = 0x1'0000;
  } else if (lead >= 0xE0 && lead < 0xF0) {
    size = 3, character = lead & 0x0F, least = 0x800;
  } else if (lead >= 0xC2 && lead < 0xE0) {
    size = 2, character = lead & 0x1F, least = 0x80;
  } else if (lead >= 0x80) {
    character = kReplacement;
  }
  bool good = size <= text.size();
  for (std::size_t i = 1; good && i < size; ++i) {
    good = (byte(i) & 0xC0) == 0x80;
    character = character << 6 | (byte(i) & 0x3F);
  }
  good = good && character >= least && character <= 0x10'FFFF &&
         (character < 0xD800 || character > 0xDFFF);
  text.remove_prefix(good ? size : 1);
  return good ? character : kReplacement;
}

// The basic alphabet beyond ASCII, ascending.
constexpr std::array<char32_t, 39> kBasic = {
    0x00A1, 0x00A3, 0x00A4, 0x00A5, 0x00A7, 0x00BF, 0x00C4, 0x00C5, 0x00C6, 0x00C7,
    0x00C9, 0x00D1, 0x00D6, 0x00D8, 0x00DC, 0x00DF, 0x00E0, 0x00E4, 0x00E5, 0x00E6,
    0x00E8, 0x00E9, 0x00EC, 0x00F1, 0x00F2, 0x00F6, 0x00F8, 0x00F9, 0x00FC, 0x0393,
    0x0394, 0x0398, 0x039B, 0x039E, 0x03A0, 0x03A3, 0x03A6, 0x03A8, 0x03A9};
constexpr char32_t kEuro = 0x20AC;

// 0 = not in the alphabet.
std::int64_t septets_of(char32_t c) noexcept {
  if (c < 0x80) {
    switch (c) {
      case '\f':
      case '[':
      case '\\':
      case ']':
      case '^':
      case '{':
      case '|':
      case '}':
      case '~':
        return 2;  // behind an escape
      case '`':
        return 0;
      case '\n':
      case '\r':
        return 1;
      default:
        return c >= ' ' && c < 0x7F ? 1 : 0;
    }
  }
  if (c == kEuro) return 2;
  return std::ranges::binary_search(kBasic, c) ? 1 : 0;
}

std::int64_t code_units_of(char32_t c) noexcept { return c >= 0x1'0000 ? 2 : 1; }

template <class UnitsOf>
SmsSize fill(std::string_view text, SmsEncoding encoding, std::int64_t alone, std::int64_t joined,
             UnitsOf units_of) noexcept {
  SmsSize size{.encoding = encoding, .units = 0, .segments = 1};
  std::int64_t used = 0;  // of the last part
  while (!text.empty()) {
    const std::int64_t units = units_of(take_character(text));
    size.units += units;
    if (used + units > joined) {
      ++size.segments;
      used = 0;
    }
    used += units;
  }
  if (size.units <= alone) size.segments = 1;
  return size;
}

}  // namespace

std::string_view sms_encoding_name(SmsEncoding encoding) noexcept {
  return encoding == SmsEncoding::gsm7 ? "GSM-7" : "UCS-2";
}

SmsSize measure_sms(std::string_view text) noexcept {
  bool plain = true;
  for (std::string_view rest = text; plain && !rest.empty();) {
    plain = septets_of(take_character(rest)) > 0;
  }
  return plain ? fill(text, SmsEncoding::gsm7, kSeptetsAlone, kSeptetsJoined, septets_of)
               : fill(text, SmsEncoding::ucs2, kCodeUnitsAlone, kCodeUnitsJoined, code_units_of);
}

}  // namespace penstock::core
