#include "core/policy/throttle_key.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock::core {
namespace {

TEST(ThrottleKey, may_be_any_text_without_control_characters) {
  for (const char* text : {"a", "user:123|route:/v1/pay", "with space", "schlüssel", "キー", "*"}) {
    EXPECT_EQ(throttle_key_problem(text), "") << text;
  }
  EXPECT_EQ(throttle_key_problem(std::string(512, 'k')), "");
  EXPECT_EQ(throttle_key_problem("\xc2\xa0"), "");  // no-break space is no control character
}

TEST(ThrottleKey, must_obey_length_encoding_and_contents) {
  EXPECT_EQ(throttle_key_problem(""), "must not be empty");
  EXPECT_EQ(throttle_key_problem(std::string(513, 'k')), "must have at most 512 bytes");
  for (const char* text : {"a\nb", "\x1f", "\x7f", "\xc2\x85"}) {
    EXPECT_EQ(throttle_key_problem(text), "must not contain control characters");
  }
  EXPECT_EQ(throttle_key_problem(std::string("a\0b", 3)), "must not contain control characters");
  for (const char* text : {"\xff", "a\xc3", "\xed\xa0\x80"}) {
    EXPECT_EQ(throttle_key_problem(text), "must be UTF-8");
  }
}

}  // namespace
}  // namespace penstock::core
