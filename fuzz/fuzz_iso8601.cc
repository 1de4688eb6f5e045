// base/iso8601: what is accepted is in range and prints to a text that means the same; what can be
// printed and is in range is accepted.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/iso8601.h"

namespace {

using namespace penstock;

constexpr Millis kDurationMax = std::chrono::days{100'000};

void check_instant_text(std::string_view text) {
  const Result<Instant> instant = parse_instant(text);
  if (!instant) return PENSTOCK_CHECK(instant.error().what.starts_with("must "));
  PENSTOCK_CHECK(*instant >= kInstantMin && *instant < kInstantEnd);
  PENSTOCK_CHECK(*instant == cut_to_millis(*instant));
  const std::string printed = format_instant(*instant);
  PENSTOCK_CHECK(printed.size() == std::string_view("2025-06-01T12:00:02.371Z").size());
  PENSTOCK_CHECK(parse_instant(printed) == *instant);
}

void check_duration_text(std::string_view text) {
  const Result<Millis> duration = parse_duration(text);
  if (!duration) return PENSTOCK_CHECK(duration.error().what.starts_with("must "));
  PENSTOCK_CHECK(*duration >= Millis::zero() && *duration <= kDurationMax);
  PENSTOCK_CHECK(parse_duration(format_duration(*duration)) == *duration);
}

void check_number(std::int64_t number) {
  const Instant instant{Micros{number}};
  const Result<Instant> same = parse_instant(format_instant(instant));
  const bool in_range = instant >= kInstantMin && instant < kInstantEnd;
  PENSTOCK_CHECK(same.has_value() == in_range);
  if (same) PENSTOCK_CHECK(*same == cut_to_millis(instant));

  const Millis duration{number};
  const Result<Millis> again = parse_duration(format_duration(duration));
  PENSTOCK_CHECK(again.has_value() == (duration >= Millis::zero() && duration <= kDurationMax));
  if (again) PENSTOCK_CHECK(*again == duration);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_instant_text(text);
  check_duration_text(text);
  if (size >= sizeof(std::int64_t)) {
    std::int64_t number = 0;
    std::memcpy(&number, data, sizeof number);
    check_number(number);
    check_number(number % 10'000'000'000'000'000);  // near the range that is accepted
  }
  return 0;
}
