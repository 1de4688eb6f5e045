#include "cli/time_argument.h"

#include <gtest/gtest.h>

#include "base/iso8601.h"

namespace penstock::cli {
namespace {

const Instant kUnevenNow = *parse_instant("2025-06-01T12:00:00.250Z") + Micros{7};

std::string read_as(std::string_view text) {
  const Result<Instant> instant = parse_time_argument(text, kUnevenNow);
  return instant ? format_instant(*instant) : "refused";
}

TEST(TimeArgument, takes_instants_and_distances_from_now) {
  EXPECT_EQ(read_as("2025-06-01T14:00:00+02:00"), "2025-06-01T12:00:00.000Z");
  EXPECT_EQ(read_as("now"), "2025-06-01T12:00:00.250Z");
  EXPECT_EQ(read_as("now+PT1H"), "2025-06-01T13:00:00.250Z");
  EXPECT_EQ(read_as("now-P1D"), "2025-05-31T12:00:00.250Z");
}

TEST(TimeArgument, refuses_everything_else) {
  for (const char* bad : {"", "today", "now+", "now+1h", "now*PT1H", "2025-06-01", "now-P100000D",
                          "now+P100000D", "NOW", "1717243200"}) {
    EXPECT_EQ(read_as(bad), "refused") << bad;
  }
}

}  // namespace
}  // namespace penstock::cli
