#include "app/cli/time_argument.h"

#include <gtest/gtest.h>

#include "base/iso8601.h"

namespace penstock::app {
namespace {

const Instant kNow = *parse_instant("2025-06-01T12:00:00.250Z") + Micros{7};

std::string at(std::string_view text) {
  const Result<Instant> instant = parse_time_argument(text, kNow);
  return instant ? format_instant(*instant) : "refused";
}

TEST(TimeArgument, takes_instants_and_distances_from_now) {
  EXPECT_EQ(at("2025-06-01T14:00:00+02:00"), "2025-06-01T12:00:00.000Z");
  EXPECT_EQ(at("now"), "2025-06-01T12:00:00.250Z");
  EXPECT_EQ(at("now+PT1H"), "2025-06-01T13:00:00.250Z");
  EXPECT_EQ(at("now-P1D"), "2025-05-31T12:00:00.250Z");
}

TEST(TimeArgument, refuses_everything_else) {
  for (const char* bad : {"", "today", "now+", "now+1h", "now*PT1H", "2025-06-01", "now-P100000D",
                          "now+P100000D", "NOW", "1717243200"}) {
    EXPECT_EQ(at(bad), "refused") << bad;
  }
}

}  // namespace
}  // namespace penstock::app
