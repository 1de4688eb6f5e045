// A text message as the networks carry it: GSM 03.38's 7-bit alphabet where it suffices, else
// UCS-2, and cut into parts where one does not hold it. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::core {

enum class SmsEncoding : std::uint8_t { gsm7, ucs2 };

std::string_view sms_encoding_name(SmsEncoding encoding) noexcept;  // "GSM-7"

struct SmsSize {
  SmsEncoding encoding = SmsEncoding::gsm7;
  std::int64_t units = 0;     // septets, or UTF-16 code units
  std::int64_t segments = 0;  // at least one

  friend bool operator==(const SmsSize&, const SmsSize&) = default;
};

// Units of a message that fits into one part (140 bytes), and of each part of one that does not:
// the header that joins the parts takes 6 bytes.
inline constexpr std::int64_t kSeptetsAlone = 160;
inline constexpr std::int64_t kSeptetsJoined = 153;
inline constexpr std::int64_t kCodeUnitsAlone = 70;
inline constexpr std::int64_t kCodeUnitsJoined = 67;
// The number of parts is one byte of that header.
inline constexpr std::int64_t kSegmentsMax = 255;

// Of UTF-8 text. An escape and what it escapes, or the halves of a surrogate pair, stay in one
// part, so that a part may be one unit short. Bytes that are not UTF-8 count as U+FFFD.
SmsSize measure_sms(std::string_view text) noexcept;

// The parts themselves, as many as measure_sms() says: an octet for each septet, an escape before
// those of the second table; or UTF-16 with the high byte first.
struct SmsText {
  SmsEncoding encoding = SmsEncoding::gsm7;
  std::vector<std::string> parts;  // at least one
};
SmsText encode_sms(std::string_view text);

}  // namespace penstock::core
