#include "base/iso8601.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

namespace penstock {
namespace {

constexpr std::string_view kInstantForm =
    "must be an ISO-8601 instant with offset, like 2025-06-01T12:00:00Z";
constexpr std::string_view kInstantRange = "must lie in the years 1970 to 2261";
constexpr std::string_view kDurationForm =
    "must be an ISO-8601 duration without years and months, like PT4S, PT0.5S or P1D";
constexpr std::string_view kDurationRange = "must be at most 100,000 days";
constexpr std::string_view kDurationFine = "must be in whole milliseconds";

constexpr std::int64_t kMillisPerSecond = 1'000;
constexpr std::int64_t kMillisPerMinute = 60 * kMillisPerSecond;
constexpr std::int64_t kMillisPerHour = 60 * kMillisPerMinute;
constexpr std::int64_t kMillisPerDay = 24 * kMillisPerHour;
constexpr std::int64_t kDurationMillisMax = 100'000 * kMillisPerDay;
constexpr std::size_t kFractionDigitsMax = 9;
constexpr std::int64_t kBillionthsPerMilli = 1'000'000;

std::unexpected<Error> refuse(std::string_view predicate) {
  return fail(ErrorKind::invalid, std::string(predicate));
}

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// Reads a text from left to right. After a failed step `ok` stays false and values mean nothing, so
// that a fixed form is read straight through and judged once.
struct Reader {
  std::string_view rest;
  bool ok = true;

  bool take(char c) noexcept {
    if (rest.empty() || rest.front() != c) return false;
    rest.remove_prefix(1);
    return true;
  }

  void expect(char c) noexcept { ok = take(c) && ok; }

  // Exactly `count` digits.
  std::int64_t digits(std::size_t count) noexcept {
    if (rest.size() < count) {
      ok = false;
      return 0;
    }
    std::int64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      ok = ok && is_digit(rest[i]);
      value = value * 10 + (rest[i] - '0');
    }
    rest.remove_prefix(count);
    return value;
  }

  // Exactly `count` digits of a value in [low, high].
  std::int64_t digits(std::size_t count, std::int64_t low, std::int64_t high) noexcept {
    const std::int64_t value = digits(count);
    ok = ok && value >= low && value <= high;
    return value;
  }

  // Up to nine digits behind a decimal point, as billionths.
  std::int64_t fraction() noexcept {
    std::int64_t value = 0;
    std::size_t count = 0;
    for (; count < rest.size() && is_digit(rest[count]); ++count) {
      if (count == kFractionDigitsMax) break;  // a tenth digit: the next step trips over it
      value = value * 10 + (rest[count] - '0');
    }
    ok = ok && count > 0;
    rest.remove_prefix(count);
    for (; count < kFractionDigitsMax; ++count) value *= 10;
    return value;
  }
};

// Calendar arithmetic counts from 0000-03-01, so that the leap day ends the year and months follow
// one formula (153 days in five of them). 400 years have 146,097 days.
constexpr std::int64_t kDaysPerEra = 146'097;
constexpr std::int64_t kEpochDay = 719'468;  // 1970-01-01 counted from 0000-03-01

constexpr bool is_leap(std::int64_t year) noexcept {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

constexpr std::int64_t days_in_month(std::int64_t year, std::int64_t month) noexcept {
  if (month == 2) return is_leap(year) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

// Days since 1970-01-01 of a valid date in the years 0 to 9999.
constexpr std::int64_t days_from_date(std::int64_t year, std::int64_t month,
                                      std::int64_t day) noexcept {
  const std::int64_t march_year = month > 2 ? year : year - 1;
  const std::int64_t march_month = month > 2 ? month - 3 : month + 9;
  const std::int64_t era = march_year >= 0 ? march_year / 400 : -1;
  const std::int64_t year_of_era = march_year - era * 400;
  const std::int64_t day_of_year = (153 * march_month + 2) / 5 + day - 1;
  const std::int64_t day_of_era =
      year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * kDaysPerEra + day_of_era - kEpochDay;
}

struct Date {
  std::int64_t year;
  std::int64_t month;
  std::int64_t day;
};

constexpr Date date_from_days(std::int64_t days) noexcept {
  const std::int64_t shifted = days + kEpochDay;
  const std::int64_t era = (shifted >= 0 ? shifted : shifted - (kDaysPerEra - 1)) / kDaysPerEra;
  const std::int64_t day_of_era = shifted - era * kDaysPerEra;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t march_month = (5 * day_of_year + 2) / 153;
  const std::int64_t month = march_month < 10 ? march_month + 3 : march_month - 9;
  return {.year = year_of_era + era * 400 + (month <= 2 ? 1 : 0),
          .month = month,
          .day = day_of_year - (153 * march_month + 2) / 5 + 1};
}

static_assert(days_from_date(0, 1, 1) == -719'528);
static_assert(days_from_date(1970, 1, 1) == 0);
static_assert(from_epoch_millis(days_from_date(2262, 1, 1) * kMillisPerDay) == kInstantEnd);

// `value` >= 0 in at least `width` digits.
void append_number(std::string& out, std::int64_t value, std::size_t width) {
  std::array<char, 20> text;
  const char* end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  const auto size = static_cast<std::size_t>(end - text.data());
  if (size < width) out.append(width - size, '0');
  out.append(text.data(), size);
}

char* put_digits(char* to, std::int64_t value, int count) noexcept {
  for (int i = count - 1; i >= 0; --i) {
    to[i] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
  return to + count;
}

// Adds `count` units to a duration; false when the sum leaves the allowed range.
bool add_units(std::int64_t& millis, std::int64_t count, std::int64_t unit_millis) noexcept {
  if (count > (kDurationMillisMax - millis) / unit_millis) return false;
  millis += count * unit_millis;
  return true;
}

struct DurationUnit {
  char letter;
  bool in_time;  // stands behind the `T`
  std::int64_t millis;
};

// In the order that a text must keep.
constexpr std::array<DurationUnit, 5> kDurationUnits{{
    {'W', false, 7 * kMillisPerDay},
    {'D', false, kMillisPerDay},
    {'H', true, kMillisPerHour},
    {'M', true, kMillisPerMinute},
    {'S', true, kMillisPerSecond},
}};

// Where `letter` stands among the units from `from` on; the end when it may not come there.
std::size_t find_unit(char letter, bool in_time, std::size_t from) noexcept {
  std::size_t at = from;
  while (at < kDurationUnits.size() &&
         (kDurationUnits[at].letter != letter || kDurationUnits[at].in_time != in_time)) {
    ++at;
  }
  return at;
}

struct DurationPart {
  std::int64_t count = 0;
  std::int64_t billionths = 0;
  bool has_fraction = false;
  char letter = '\0';
};

DurationPart read_part(Reader& in) noexcept {
  DurationPart part;
  std::size_t digits = 0;
  for (; digits < in.rest.size() && is_digit(in.rest[digits]); ++digits) {
    // Once past the longest duration, further digits change nothing.
    if (part.count <= kDurationMillisMax) part.count = part.count * 10 + (in.rest[digits] - '0');
  }
  in.ok = in.ok && digits > 0;
  in.rest.remove_prefix(digits);
  part.has_fraction = in.take('.');
  if (part.has_fraction) part.billionths = in.fraction();
  if (in.rest.empty()) {
    in.ok = false;
  } else {
    part.letter = in.rest.front();
    in.rest.remove_prefix(1);
  }
  return part;
}

}  // namespace

Result<Instant> parse_instant(std::string_view text) {
  Reader in{.rest = text};
  const std::int64_t year = in.digits(4);
  in.expect('-');
  const std::int64_t month = in.digits(2, 1, 12);
  in.expect('-');
  const std::int64_t day = in.digits(2, 1, 31);
  in.expect('T');
  const std::int64_t hour = in.digits(2, 0, 23);
  in.expect(':');
  const std::int64_t minute = in.digits(2, 0, 59);
  in.expect(':');
  const std::int64_t second = in.digits(2, 0, 59);
  const std::int64_t billionths = in.take('.') ? in.fraction() : 0;
  std::int64_t offset_minutes = 0;
  if (!in.take('Z')) {
    const bool west = in.take('-');
    if (!west) in.expect('+');
    offset_minutes = in.digits(2, 0, 23) * 60;
    in.expect(':');
    offset_minutes += in.digits(2, 0, 59);
    if (west) offset_minutes = -offset_minutes;
  }
  if (!in.ok || !in.rest.empty() || day > days_in_month(year, month)) return refuse(kInstantForm);

  const std::int64_t millis = days_from_date(year, month, day) * kMillisPerDay +
                              hour * kMillisPerHour + (minute - offset_minutes) * kMillisPerMinute +
                              second * kMillisPerSecond + billionths / kBillionthsPerMilli;
  const Instant instant = from_epoch_millis(millis);
  if (instant < kInstantMin || instant >= kInstantEnd) return refuse(kInstantRange);
  return instant;
}

void append_instant(std::string& out, Instant instant) {
  const std::int64_t epoch_millis = to_epoch_millis(instant);
  const std::int64_t days = std::chrono::floor<std::chrono::days>(Millis{epoch_millis}).count();
  const std::int64_t millis = epoch_millis - days * kMillisPerDay;  // of the day
  const Date date = date_from_days(days);
  // An Instant reaches past the API's years; those print too, in ISO-8601's expanded form.
  if (date.year < 0) out += '-';
  if (date.year > 9'999) out += '+';
  append_number(out, date.year < 0 ? -date.year : date.year, 4);

  std::array<char, 20> tail;  // -MM-DDTHH:MM:SS.mmmZ
  char* to = tail.data();
  *to++ = '-';
  to = put_digits(to, date.month, 2);
  *to++ = '-';
  to = put_digits(to, date.day, 2);
  *to++ = 'T';
  to = put_digits(to, millis / kMillisPerHour, 2);
  *to++ = ':';
  to = put_digits(to, millis / kMillisPerMinute % 60, 2);
  *to++ = ':';
  to = put_digits(to, millis / kMillisPerSecond % 60, 2);
  *to++ = '.';
  to = put_digits(to, millis % kMillisPerSecond, 3);
  *to = 'Z';
  out.append(tail.data(), tail.size());
}

std::string format_instant(Instant instant) {
  std::string out;
  out.reserve(24);  // 2025-06-01T12:00:02.371Z
  append_instant(out, instant);
  return out;
}

Result<Millis> parse_duration(std::string_view text) {
  Reader in{.rest = text};
  in.expect('P');
  std::int64_t millis = 0;
  bool in_range = true;
  bool in_whole_millis = true;
  bool in_time = false;
  bool part_due = true;       // at least one behind `P`, and one behind `T`
  std::size_t next_unit = 0;  // the first of kDurationUnits that may still come
  while (in.ok && !in.rest.empty()) {
    if (!in_time && in.take('T')) {
      in_time = true;
      part_due = true;
      continue;
    }
    const DurationPart part = read_part(in);
    const std::size_t unit = find_unit(part.letter, in_time, next_unit);
    if (unit == kDurationUnits.size() || (part.has_fraction && part.letter != 'S')) {
      return refuse(kDurationForm);
    }
    in_range = in_range && add_units(millis, part.count, kDurationUnits[unit].millis) &&
               add_units(millis, part.billionths / kBillionthsPerMilli, 1);
    in_whole_millis = in_whole_millis && part.billionths % kBillionthsPerMilli == 0;
    part_due = false;
    if (part.letter == 'W') break;  // stands alone
    next_unit = unit + 1;
  }
  if (!in.ok || !in.rest.empty() || part_due) return refuse(kDurationForm);
  if (!in_range) return refuse(kDurationRange);
  if (!in_whole_millis) return refuse(kDurationFine);
  return Millis{millis};
}

std::string format_duration(Millis duration) {
  std::string out;
  // No API value is negative; a sign is for people who read a log. Unsigned, since the lowest value
  // has no positive twin.
  auto millis = static_cast<std::uint64_t>(duration.count());
  if (duration < Millis::zero()) {
    out += '-';
    millis = 0 - millis;
  }
  const auto part = [&](std::uint64_t count, char letter) {
    if (count == 0) return;
    append_number(out, static_cast<std::int64_t>(count), 1);
    out += letter;
  };
  out += 'P';
  part(millis / kMillisPerDay, 'D');
  const std::uint64_t in_day = millis % kMillisPerDay;
  if (in_day == 0 && millis != 0) return out;
  out += 'T';
  part(in_day / kMillisPerHour, 'H');
  part(in_day / kMillisPerMinute % 60, 'M');
  const std::uint64_t in_minute = in_day % kMillisPerMinute;
  if (in_minute == 0 && millis != 0) return out;
  append_number(out, static_cast<std::int64_t>(in_minute / kMillisPerSecond), 1);
  if (const std::uint64_t fraction = in_minute % kMillisPerSecond; fraction != 0) {
    out += '.';
    append_number(out, static_cast<std::int64_t>(fraction), 3);
    while (out.back() == '0') out.pop_back();
  }
  out += 'S';
  return out;
}

}  // namespace penstock
