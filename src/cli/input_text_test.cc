#include "cli/input_text.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

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

}  // namespace
}  // namespace penstock::cli
