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

// The basic alphabet by its septets; what is behind an escape (0x1B) stands in kEscaped.
constexpr std::size_t kSeptets = 128;
constexpr char32_t kNoCharacter = 0xFFFF;
constexpr std::array<char32_t, kSeptets> kBasic = {
    '@',    0x00A3, '$',    0x00A5,       0x00E8, 0x00E9, 0x00F9, 0x00EC,  // 0x00
    0x00F2, 0x00C7, '\n',   0x00D8,       0x00F8, '\r',   0x00C5, 0x00E5,  // 0x08
    0x0394, '_',    0x03A6, 0x0393,       0x039B, 0x03A9, 0x03A0, 0x03A8,  // 0x10
    0x03A3, 0x0398, 0x039E, kNoCharacter, 0x00C6, 0x00E6, 0x00DF, 0x00C9,  // 0x18
    ' ',    '!',    '"',    '#',          0x00A4, '%',    '&',    '\'',    // 0x20
    '(',    ')',    '*',    '+',          ',',    '-',    '.',    '/',     // 0x28
    '0',    '1',    '2',    '3',          '4',    '5',    '6',    '7',     // 0x30
    '8',    '9',    ':',    ';',          '<',    '=',    '>',    '?',     // 0x38
    0x00A1, 'A',    'B',    'C',          'D',    'E',    'F',    'G',     // 0x40
    'H',    'I',    'J',    'K',          'L',    'M',    'N',    'O',     // 0x48
    'P',    'Q',    'R',    'S',          'T',    'U',    'V',    'W',     // 0x50
    'X',    'Y',    'Z',    0x00C4,       0x00D6, 0x00D1, 0x00DC, 0x00A7,  // 0x58
    0x00BF, 'a',    'b',    'c',          'd',    'e',    'f',    'g',     // 0x60
    'h',    'i',    'j',    'k',          'l',    'm',    'n',    'o',     // 0x68
    'p',    'q',    'r',    's',          't',    'u',    'v',    'w',     // 0x70
    'x',    'y',    'z',    0x00E4,       0x00F6, 0x00F1, 0x00FC, 0x00E0,  // 0x78
};
constexpr std::uint16_t kEscape = 0x1B;

struct Septets {
  char32_t character;
  std::uint16_t code;  // with kEscape in the high byte when that comes first
};

constexpr std::array<Septets, 10> kEscaped = {{{'\f', 0x0A},
                                               {'^', 0x14},
                                               {'{', 0x28},
                                               {'}', 0x29},
                                               {'\\', 0x2F},
                                               {'[', 0x3C},
                                               {'~', 0x3D},
                                               {']', 0x3E},
                                               {'|', 0x40},
                                               {0x20AC, 0x65}}};

// Both tables by character, ascending.
constexpr auto kAlphabet = [] {
  std::array<Septets, kSeptets - 1 + kEscaped.size()> all{};
  std::size_t count = 0;
  for (std::size_t code = 0; code < kSeptets; ++code) {
    if (kBasic[code] != kNoCharacter)
      all[count++] = {kBasic[code], static_cast<std::uint16_t>(code)};
  }
  for (const Septets& each : kEscaped) {
    all[count++] = {each.character, static_cast<std::uint16_t>(kEscape << 8 | each.code)};
  }
  std::ranges::sort(all, {}, &Septets::character);
  return all;
}();

constexpr std::uint16_t kNoCode = 0xFFFF;

constexpr std::uint16_t search(char32_t c) noexcept {
  const auto* const found = std::ranges::lower_bound(kAlphabet, c, {}, &Septets::character);
  return found != kAlphabet.end() && found->character == c ? found->code : kNoCode;
}

// Most texts are of these alone, and every message is measured when it is accepted.
constexpr auto kAscii = [] {
  std::array<std::uint16_t, 128> codes{};
  for (std::size_t c = 0; c < codes.size(); ++c) codes[c] = search(static_cast<char32_t>(c));
  return codes;
}();

std::uint16_t code_of(char32_t c) noexcept { return c < kAscii.size() ? kAscii[c] : search(c); }

// 0 = not in the alphabet.
std::int64_t septets_of(char32_t c) noexcept {
  const std::uint16_t code = code_of(c);
  if (code == kNoCode) return 0;
  return code > 0xFF ? 2 : 1;
}

void put_septets(std::string& out, char32_t c) {
  const std::uint16_t code = code_of(c);
  if (code > 0xFF) out.push_back(static_cast<char>(code >> 8));
  out.push_back(static_cast<char>(code & 0xFF));
}

std::int64_t code_units_of(char32_t c) noexcept { return c >= 0x1'0000 ? 2 : 1; }

void put_code_units(std::string& out, char32_t c) {
  const auto put = [&](char32_t unit) {
    out.push_back(static_cast<char>(unit >> 8 & 0xFF));
    out.push_back(static_cast<char>(unit & 0xFF));
  };
  if (c < 0x1'0000) return put(c);
  put(0xD800 + ((c - 0x1'0000) >> 10));
  put(0xDC00 + ((c - 0x1'0000) & 0x3FF));
}

// How one encoding counts and writes.
struct Rule {
  SmsEncoding encoding;
  std::int64_t alone;   // units of a message in one part
  std::int64_t joined;  // units of each part of several
  std::int64_t (*units_of)(char32_t) noexcept;
  void (*put)(std::string&, char32_t);
};
constexpr Rule kGsm7 = {SmsEncoding::gsm7, kSeptetsAlone, kSeptetsJoined, septets_of, put_septets};
constexpr Rule kUcs2 = {SmsEncoding::ucs2, kCodeUnitsAlone, kCodeUnitsJoined, code_units_of,
                        put_code_units};

const Rule& rule_for(std::string_view text) noexcept {
  while (!text.empty()) {
    if (septets_of(take_character(text)) == 0) return kUcs2;
  }
  return kGsm7;
}

}  // namespace

std::string_view sms_encoding_name(SmsEncoding encoding) noexcept {
  return encoding == SmsEncoding::gsm7 ? "GSM-7" : "UCS-2";
}

SmsSize measure_sms(std::string_view text) noexcept {
  const Rule& rule = rule_for(text);
  SmsSize size{.encoding = rule.encoding, .units = 0, .segments = 1};
  std::int64_t used = 0;  // of the last part
  while (!text.empty()) {
    const std::int64_t units = rule.units_of(take_character(text));
    size.units += units;
    if (used + units > rule.joined) {
      ++size.segments;
      used = 0;
    }
    used += units;
  }
  if (size.units <= rule.alone) size.segments = 1;
  return size;
}

SmsText encode_sms(std::string_view text) {
  const Rule& rule = rule_for(text);
  const bool alone = measure_sms(text).segments == 1;
  SmsText out{.encoding = rule.encoding, .parts = {""}};
  std::int64_t used = 0;  // of the last part
  while (!text.empty()) {
    const char32_t character = take_character(text);
    const std::int64_t units = rule.units_of(character);
    if (!alone && used + units > rule.joined) {
      out.parts.emplace_back();
      used = 0;
    }
    rule.put(out.parts.back(), character);
    used += units;
  }
  return out;
}

}  // namespace penstock::core
