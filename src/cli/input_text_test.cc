#include "cli/input_text.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/iso8601.h"

namespace penstock::cli {

namespace {

class InputTextTest : public testing::Test {
 protected:
  InputTextTest() { std::ofstream(path_) << "some text\n"; }
  ~InputTextTest() override { std::filesystem::remove(path_); }

  const std::string path_ =
      testing::TempDir() + "penstock_input_text_" + std::to_string(::getpid());
};

TEST_F(InputTextTest, takes_the_text_itself_or_that_of_a_file) {
  EXPECT_EQ(*text_argument("{\"a\":1}", 1 << 20), "{\"a\":1}");
  EXPECT_EQ(*text_argument("@" + path_, 1 << 20), "some text\n");
  EXPECT_EQ(*read_whole(path_, 1 << 20), "some text\n");
}

TEST_F(InputTextTest, refuses_what_is_not_there_or_too_large) {
  EXPECT_EQ(text_argument("@" + path_ + ".none", 1 << 20).error().what,
            "cannot read " + path_ + ".none");
  EXPECT_EQ(read_whole("/dev/zero", 1 << 20).error().what, "/dev/zero is larger than 1 MiB");
  EXPECT_FALSE(read_whole("/", 1 << 20).has_value());
}

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
