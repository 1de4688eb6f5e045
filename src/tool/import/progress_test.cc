#include "tool/import/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::tool {
namespace {

using testing::HasSubstr;

TEST(ProgressLine, shows_share_lines_rate_and_time_left) {
  EXPECT_EQ(progress_line({.lines = 50'000,
                           .failed = 2,
                           .bytes = 500,
                           .bytes_total = 1'000,
                           .seconds = 10,
                           .waiting_for = ""},
                          200),
            "[############............]  50%  50,000 lines  5,000/s  2 failed  ETA 10s");
}

TEST(ProgressLine, knows_no_share_of_a_pipe) {
  EXPECT_EQ(progress_line({.lines = 10, .bytes = 5, .bytes_total = {}, .seconds = 1}, 200),
            "10 lines  10/s");
}

TEST(ProgressLine, says_what_it_waits_for) {
  EXPECT_THAT(progress_line({.lines = 1,
                             .bytes = 5,
                             .bytes_total = 10,
                             .seconds = 1,
                             .waiting_for = "Connection refused"},
                            200),
              testing::EndsWith("waiting: Connection refused"));
}

TEST(ProgressLine, stays_within_the_width_and_within_reason) {
  EXPECT_EQ(progress_line({.lines = 1, .bytes = 1, .bytes_total = 10, .seconds = 1}, 20).size(),
            20U);
  EXPECT_EQ(progress_line({}, 100), "0 lines  0/s");
  EXPECT_THAT(progress_line({.bytes = 20, .bytes_total = 10, .seconds = 1}, 100),
              HasSubstr("100%"));
  EXPECT_THAT(progress_line({.bytes = 1, .bytes_total = 1'000'000, .seconds = 3'600}, 100),
              HasSubstr("ETA 99h59m"));
}

TEST(WithThousands, groups_by_three) {
  EXPECT_EQ(with_thousands(0), "0");
  EXPECT_EQ(with_thousands(999), "999");
  EXPECT_EQ(with_thousands(1'000), "1,000");
  EXPECT_EQ(with_thousands(1'234'567), "1,234,567");
}

ImportTally tally() {
  ImportTally tally{.read = 10, .accepted = 7, .failed = 2};
  tally.count_reason("400 Bad Request: x");
  tally.count_reason("400 Bad Request: x");
  tally.latest_scheduled_time = "2025-06-01T12:00:00.000Z";
  return tally;
}

TEST(Summary, counts_everything) {
  EXPECT_EQ(summary_text(tally(), 2),
            "lines read               10\n"
            "assigned                  7\n"
            "failed                    2\n"
            "                          2  400 Bad Request: x\n"
            "not answered              1\n"
            "seconds                 2.0\n"
            "events/s                  3\n"
            "latest slot    2025-06-01T12:00:00.000Z\n");
}

TEST(Summary, is_json_when_asked) {
  EXPECT_EQ(summary_json(tally(), 2),
            R"({"linesRead":10,"assigned":7,"failed":2,"notAnswered":1,"batchesRetried":0,)"
            R"("seconds":2.000,"reasons":[{"reason":"400 Bad Request: x","lines":2}],)"
            R"("latestScheduledTime":"2025-06-01T12:00:00.000Z"})"
            "\n");
}

TEST(Summary, bounds_the_reasons) {
  ImportTally many;
  for (int i = 0; i < 1'000; ++i) many.count_reason(std::to_string(i));
  EXPECT_LE(many.reasons.size(), 21U);
  EXPECT_EQ(many.reasons["other reasons"], 980U);
}

}  // namespace
}  // namespace penstock::tool
