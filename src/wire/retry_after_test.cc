#include "wire/retry_after.h"

#include <gtest/gtest.h>

#include <string_view>

#include "base/iso8601.h"

namespace penstock::wire {
namespace {

const Instant kNow = *parse_instant("2025-06-01T12:00:00.250Z");

TEST(RetryAfter, is_a_number_of_seconds) {
  EXPECT_EQ(parse_retry_after("0", kNow), Millis{0});
  EXPECT_EQ(parse_retry_after("120", kNow), Seconds{120});
  EXPECT_EQ(parse_retry_after("99999999999999999999999999", kNow), kRetryAfterMax);
}

TEST(RetryAfter, is_an_instant) {
  EXPECT_EQ(parse_retry_after("Sun, 01 Jun 2025 12:00:05 GMT", kNow), Millis{4'750});
  EXPECT_EQ(parse_retry_after("Sun, 01 Jun 2025 11:59:00 GMT", kNow), Millis{0});
  EXPECT_EQ(parse_retry_after("Fri, 31 Dec 9999 23:59:59 GMT", kNow), kRetryAfterMax);
}

TEST(RetryAfter, is_nothing_else) {
  for (const std::string_view text :
       {"", " ", "-1", "+1", "1.5", "1 ", "soon", "1e3", "Sun, 01 Jun 2025 12:00:05"}) {
    EXPECT_EQ(parse_retry_after(text, kNow), std::nullopt) << text;
  }
}

TEST(HttpDate, has_three_forms) {
  const Instant expected = *parse_instant("1994-11-06T08:49:37Z");
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT", kNow), expected);
  EXPECT_EQ(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT", kNow), expected);
  EXPECT_EQ(parse_http_date("Sun Nov  6 08:49:37 1994", kNow), expected);
  EXPECT_EQ(parse_http_date("Wed Nov 16 08:49:37 1994", kNow),
            *parse_instant("1994-11-16T08:49:37Z"));
  // More than 50 years ahead of 2025 is the past.
  EXPECT_EQ(parse_http_date("Sunday, 06-Nov-75 08:49:37 GMT", kNow),
            *parse_instant("2075-11-06T08:49:37Z"));
  EXPECT_EQ(parse_http_date("Sunday, 06-Nov-76 08:49:37 GMT", kNow),
            *parse_instant("1976-11-06T08:49:37Z"));
  EXPECT_EQ(parse_http_date("Tue, 30 Jun 2015 23:59:60 GMT", kNow),
            *parse_instant("2015-07-01T00:00:00Z"));
}

TEST(HttpDate, must_exist) {
  for (const std::string_view text :
       {"Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 29 Feb 2025 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 nov 1994 08:49:37 GMT",
        "Sunday, 06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT",
        "Sunday Nov  6 08:49:37 1994", "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT ", "Day, 06 Nov 1994 08:49:37 GMT"}) {
    EXPECT_EQ(parse_http_date(text, kNow), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace penstock::wire
