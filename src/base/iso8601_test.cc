#include "base/iso8601.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rng.h"

namespace penstock {
namespace {

constexpr std::string_view kInstantForm =
    "must be an ISO-8601 instant with offset, like 2025-06-01T12:00:00Z";
constexpr std::string_view kInstantRange = "must lie in the years 1970 to 2261";

std::int64_t millis_of(std::string_view text) {
  const Result<Instant> instant = parse_instant(text);
  EXPECT_TRUE(instant.has_value()) << text;
  return instant ? instant->time_since_epoch() / Millis{1} : -1;
}

std::string refusal_of_instant(std::string_view text) {
  const Result<Instant> instant = parse_instant(text);
  if (instant) return "accepted as " + format_instant(*instant);
  EXPECT_EQ(instant.error().kind, ErrorKind::invalid);
  EXPECT_EQ(instant.error().field, "");
  return instant.error().what;
}

std::string refusal_of_duration(std::string_view text) {
  const Result<Millis> duration = parse_duration(text);
  if (duration) return "accepted as " + format_duration(*duration);
  EXPECT_EQ(duration.error().kind, ErrorKind::invalid);
  return duration.error().what;
}

std::string padded(std::int64_t value, std::size_t width) {
  std::string text = std::to_string(value);
  return std::string(width > text.size() ? width - text.size() : 0, '0') + text;
}

// The date and time of day of `millis`, by the standard library's calendar: no zone, no fraction.
std::string chrono_text(std::int64_t millis) {
  const std::chrono::sys_time<std::chrono::milliseconds> at{std::chrono::milliseconds{millis}};
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{at - day};
  return padded(static_cast<int>(date.year()), 4) + "-" +
         padded(static_cast<unsigned>(date.month()), 2) + "-" +
         padded(static_cast<unsigned>(date.day()), 2) + "T" + padded(time.hours().count(), 2) +
         ":" + padded(time.minutes().count(), 2) + ":" + padded(time.seconds().count(), 2);
}

TEST(Instant, parses_known_texts) {
  EXPECT_EQ(millis_of("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(millis_of("2000-02-29T00:00:00Z"), 951'782'400'000);
  EXPECT_EQ(millis_of("2025-06-01T12:00:00Z"), 1'748'779'200'000);
  EXPECT_EQ(millis_of("2025-06-01T12:00:00.5Z"), 1'748'779'200'500);
  EXPECT_EQ(millis_of("2025-06-01T12:00:00.042Z"), 1'748'779'200'042);
  EXPECT_EQ(millis_of("2025-06-01T14:00:00+02:00"), 1'748'779'200'000);
  EXPECT_EQ(millis_of("2025-06-01T06:30:00-05:30"), 1'748'779'200'000);
  EXPECT_EQ(millis_of("2025-06-01T12:00:00+00:00"), 1'748'779'200'000);
  EXPECT_EQ(millis_of("2025-06-01T12:00:00-00:00"), 1'748'779'200'000);
  EXPECT_EQ(millis_of("2025-06-02T11:59:00.001+23:59"), 1'748'779'200'001);
  EXPECT_EQ(millis_of("2025-05-31T12:01:00-23:59"), 1'748'779'200'000);
}

TEST(Instant, cuts_fractions_to_milliseconds) {
  EXPECT_EQ(millis_of("1970-01-01T00:00:00.123456789Z"), 123);
  EXPECT_EQ(millis_of("1970-01-01T00:00:00.999999999Z"), 999);
  EXPECT_EQ(millis_of("1970-01-01T00:00:00.0009Z"), 0);
  EXPECT_EQ(millis_of("1970-01-01T00:00:00.1Z"), 100);
  EXPECT_EQ(millis_of("1970-01-01T00:00:00.12Z"), 120);
}

TEST(Instant, knows_leap_years) {
  for (const std::string_view year : {"1972", "2000", "2024", "2400"}) {
    const std::string text = std::string(year) + "-02-29T00:00:00Z";
    EXPECT_NE(refusal_of_instant(text), kInstantForm);
  }
  for (const std::string_view year : {"1970", "1999", "2023", "2100", "2200"}) {
    EXPECT_EQ(refusal_of_instant(std::string(year) + "-02-29T00:00:00Z"), kInstantForm) << year;
  }
}

TEST(Instant, judges_the_year_after_the_offset) {
  EXPECT_EQ(millis_of("1969-12-31T23:30:00-01:00"), 1'800'000);
  EXPECT_EQ(millis_of("2262-01-01T00:59:59.999+01:00"), 9'214'646'399'999);
  EXPECT_EQ(millis_of("2261-12-31T23:59:59.999999999Z"), 9'214'646'399'999);
  for (const std::string_view text :
       {"1969-12-31T23:59:59.999Z", "1970-01-01T00:30:00+01:00", "2262-01-01T00:00:00Z",
        "2261-12-31T23:30:00-00:30", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59.999-23:59"}) {
    EXPECT_EQ(refusal_of_instant(text), kInstantRange) << text;
  }
}

TEST(Instant, refuses_malformed_texts) {
  const std::vector<std::string_view> texts = {
      "",
      " ",
      "Z",
      "2025-06-01",
      "2025-06-01T12:00:00",              // no offset
      "2025-06-01T12:00Z",                // no seconds
      "2025-06-01T12:00:00.Z",            // empty fraction
      "2025-06-01T12:00:00,5Z",           // comma
      "2025-06-01T12:00:00.1234567890Z",  // ten digits
      "2025-06-01t12:00:00Z",
      "2025-06-01T12:00:00z",
      "2025-06-01 12:00:00Z",
      "2025-06-01T12:00:00 Z",
      "2025-06-01T12:00:00Z ",
      " 2025-06-01T12:00:00Z",
      "2025-06-01T12:00:00Z\n",
      "2025-06-01T12:00:00ZZ",
      "2025-06-01T12:00:00Z+00:00",
      "2025-06-01T12:00:00+02",
      "2025-06-01T12:00:00+0200",
      "2025-06-01T12:00:00+2:00",
      "2025-06-01T12:00:00+24:00",
      "2025-06-01T12:00:00+02:60",
      "2025-06-01T12:00:00+02:00:00",
      "2025-06-01T12:00:00+02:00Z",
      "2025-06-01T12:00:00+-2:00",
      "2025-06-01T12:00:00[Europe/Paris]",
      "2025-00-01T12:00:00Z",
      "2025-13-01T12:00:00Z",
      "2025-06-00T12:00:00Z",
      "2025-06-31T12:00:00Z",
      "2025-01-32T12:00:00Z",
      "2025-02-29T12:00:00Z",
      "2025-06-01T24:00:00Z",
      "2025-06-01T12:60:00Z",
      "2025-06-30T23:59:60Z",  // leap second
      "2025-6-1T12:00:00Z",
      "25-06-01T12:00:00Z",
      "+2025-06-01T12:00:00Z",
      "-2025-06-01T12:00:00Z",
      "12025-06-01T12:00:00Z",
      "20250601T120000Z",
      "2025-W22-7T12:00:00Z",
      "2025/06/01T12:00:00Z",
      "2025-06-01T12.00.00Z",
      "2025-06-01T1a:00:00Z",
      "2025-06-01T12:00:0/Z",
      "2025-06-01T12:00:0:Z",
      "2025-06-01T12:00:00.5",
      "1748779200",
  };
  for (const std::string_view text : texts)
    EXPECT_EQ(refusal_of_instant(text), kInstantForm) << text;
  const std::string with_nul("2025-06-01T12:00:00Z\0", 21);
  EXPECT_EQ(refusal_of_instant(with_nul), kInstantForm);
}

TEST(Instant, refuses_every_true_prefix) {
  const std::string text = "2025-06-01T12:00:00.123456789+02:00";
  ASSERT_TRUE(parse_instant(text));
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_EQ(refusal_of_instant(std::string_view(text).substr(0, size)), kInstantForm) << size;
  }
}

TEST(Instant, prints_utc_with_three_digits) {
  EXPECT_EQ(format_instant(kInstantMin), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_instant(kInstantEnd - Micros{1}), "2261-12-31T23:59:59.999Z");
  EXPECT_EQ(format_instant(from_epoch_millis(1'748'779'202'371)), "2025-06-01T12:00:02.371Z");
  std::string out = "at ";
  append_instant(out, from_epoch_millis(7));
  EXPECT_EQ(out, "at 1970-01-01T00:00:00.007Z");
}

TEST(Instant, prints_any_value_without_breaking) {
  EXPECT_EQ(format_instant(Instant{Micros{-1}}), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(format_instant(from_epoch_millis(-62'167'219'200'000)), "0000-01-01T00:00:00.000Z");
  EXPECT_EQ(format_instant(from_epoch_millis(-62'167'219'200'001)), "-0001-12-31T23:59:59.999Z");
  EXPECT_EQ(format_instant(from_epoch_millis(253'402'300'800'000)), "+10000-01-01T00:00:00.000Z");
  EXPECT_EQ(format_instant(Instant::max()), "+294247-01-10T04:00:54.775Z");
  EXPECT_EQ(format_instant(Instant::min()), "-290308-12-21T19:59:05.224Z");
}

TEST(Instant, agrees_with_the_standard_calendar_on_every_day) {
  for (std::int64_t day = 0; day < kInstantEnd.time_since_epoch() / std::chrono::days{1}; ++day) {
    const std::int64_t millis = day * 86'400'000;
    const std::string text = chrono_text(millis);
    ASSERT_EQ(format_instant(from_epoch_millis(millis)), text + ".000Z");
    ASSERT_EQ(millis_of(text + "Z"), millis) << text;
  }
}

TEST(Instant, agrees_with_the_standard_calendar_on_random_instants_and_offsets) {
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    Rng rng(seed);
    const std::int64_t millis = rng.between(0, to_epoch_millis(kInstantEnd) - 1);
    const std::int64_t offset_minutes = rng.between(-1'439, 1'439);
    const std::int64_t magnitude = offset_minutes < 0 ? -offset_minutes : offset_minutes;
    const std::int64_t nanos = millis % 1'000 * 1'000'000 + rng.between(0, 999'999);
    const auto digits = static_cast<std::size_t>(rng.between(3, 9));
    const std::string text = chrono_text(millis + offset_minutes * 60'000) + "." +
                             padded(nanos, 9).substr(0, digits) + (offset_minutes < 0 ? "-" : "+") +
                             padded(magnitude / 60, 2) + ":" + padded(magnitude % 60, 2);
    ASSERT_EQ(millis_of(text), millis) << text << " seed " << seed;
    const std::string printed = format_instant(from_epoch_millis(millis));
    ASSERT_EQ(printed, chrono_text(millis) + "." + padded(millis % 1'000, 3) + "Z");
    ASSERT_EQ(millis_of(printed), millis) << printed << " seed " << seed;
  }
}

TEST(Instant, gives_a_value_or_an_error_for_any_bytes) {
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    Rng rng(seed);
    std::string text = "2025-06-01T12:00:00.25+02:00";
    for (std::uint64_t edits = rng.below(4); edits > 0; --edits) {
      const std::size_t at = rng.below(text.size());
      const std::uint64_t kind = rng.below(3);
      if (kind == 0) text[at] = static_cast<char>(rng.below(256));
      if (kind == 1) text[at] = "0123456789+-:.TZ"[rng.below(16)];
      if (kind == 2) text.erase(at, 1);
    }
    if (const Result<Instant> instant = parse_instant(text)) {
      ASSERT_EQ(parse_instant(format_instant(*instant)), *instant) << text << " seed " << seed;
    }
  }
}

TEST(Duration, parses_and_prints_canonical_texts) {
  const std::vector<std::pair<std::string_view, std::int64_t>> cases = {
      {"PT0S", 0},
      {"PT0.001S", 1},
      {"PT0.5S", 500},
      {"PT4S", 4'000},
      {"PT59.999S", 59'999},
      {"PT1M", 60'000},
      {"PT1M30S", 90'000},
      {"PT1M0.25S", 60'250},
      {"PT1H", 3'600'000},
      {"PT1H0.01S", 3'600'010},
      {"P1D", 86'400'000},
      {"P1DT2H3M4.5S", 93'784'500},
      {"P14D", 1'209'600'000},
      {"P100000D", 8'640'000'000'000},
      {"P99999DT23H59M59.999S", 8'639'999'999'999},
  };
  for (const auto& [text, millis] : cases) {
    EXPECT_EQ(parse_duration(text), Millis{millis}) << text;
    EXPECT_EQ(format_duration(Millis{millis}), text);
  }
}

TEST(Duration, parses_other_forms_of_the_same_value) {
  const std::vector<std::pair<std::string_view, std::int64_t>> cases = {
      {"P2W", 1'209'600'000},
      {"P0D", 0},
      {"P0W", 0},
      {"P0DT0H0M0S", 0},
      {"PT90S", 90'000},
      {"PT36H", 129'600'000},
      {"P1DT24H", 172'800'000},
      {"PT0004S", 4'000},
      {"PT1.50S", 1'500},
      {"PT0.250000000S", 250},
      {"PT8640000000S", 8'640'000'000'000},
      {"P000000000000000000000000000001D", 86'400'000},
  };
  for (const auto& [text, millis] : cases) EXPECT_EQ(parse_duration(text), Millis{millis}) << text;
}

TEST(Duration, refuses_malformed_texts) {
  for (const std::string_view text : {"",
                                      "P",
                                      "PT",
                                      "T4S",
                                      "4S",
                                      "PT4",
                                      "P4",
                                      "P1DT",
                                      "P1",
                                      "p1d",
                                      "pt4s",
                                      "PT4s",
                                      "Pt4S",
                                      "-PT4S",
                                      "+PT4S",
                                      "PT-4S",
                                      "PT+4S",
                                      "P1Y",
                                      "P1M",
                                      "P1Y2D",
                                      "P1S",
                                      "P1H",
                                      "PT1D",
                                      "PT1W",
                                      "P1W2D",
                                      "P1DT1W",
                                      "P1D2W",
                                      "P1WT1H",
                                      "P1D1D",
                                      "PT1S1M",
                                      "PT1M1H",
                                      "PT1H1H",
                                      "PTT1S",
                                      "P1DT1HT1M",
                                      "PT.5S",
                                      "PT1.S",
                                      "PT1,5S",
                                      "PT0.5M",
                                      "PT1.5H",
                                      "P0.5D",
                                      "P0.5W",
                                      "PT1.0M",
                                      "PT0.1234567890S",
                                      "PT1.5",
                                      "PT4S ",
                                      " PT4S",
                                      "PT 4S",
                                      "PT4SX",
                                      "PT4S\n",
                                      "PT0x4S",
                                      "PTS",
                                      "PD",
                                      "PT1.2.3S",
                                      "4000",
                                      "P1D T1H"}) {
    EXPECT_EQ(refusal_of_duration(text),
              "must be an ISO-8601 duration without years and months, like PT4S, PT0.5S or P1D")
        << text;
  }
}

TEST(Duration, refuses_more_than_100000_days_without_overflow) {
  for (const std::string_view text :
       {"P100000DT0.001S", "P100001D", "P14286W", "PT8640000000.001S", "PT2400001H", "P100000DT1S",
        "P99999DT24H0.001S", "P9223372036854775807D", "PT9223372036854775808S",
        "P18446744073709551617D", "PT99999999999999999999999999999999999999S",
        "P99999999999999999999W", "P100001DT99999999999999999999H1M"}) {
    EXPECT_EQ(refusal_of_duration(text), "must be at most 100,000 days") << text;
  }
}

TEST(Duration, refuses_what_is_finer_than_a_millisecond) {
  for (const std::string_view text : {"PT0.0001S", "PT0.0005S", "PT1.000000001S", "P1DT0.1234S"}) {
    EXPECT_EQ(refusal_of_duration(text), "must be in whole milliseconds") << text;
  }
}

TEST(Duration, survives_a_round_trip) {
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    Rng rng(seed);
    // All magnitudes alike, from a millisecond to 100,000 days.
    const std::int64_t top = std::int64_t{1} << rng.below(43);
    const Millis duration{rng.between(0, top)};
    const std::string text = format_duration(duration);
    ASSERT_EQ(parse_duration(text), duration) << text << " seed " << seed;
  }
}

TEST(Duration, prints_any_value_without_breaking) {
  EXPECT_EQ(format_duration(Millis{-4'000}), "-PT4S");
  EXPECT_EQ(format_duration(Millis{std::numeric_limits<std::int64_t>::max()}),
            "P106751991167DT7H12M55.807S");
  EXPECT_EQ(format_duration(Millis{std::numeric_limits<std::int64_t>::min()}),
            "-P106751991167DT7H12M55.808S");
}

}  // namespace
}  // namespace penstock
