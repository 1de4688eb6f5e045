#include "wire/base64.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace penstock::wire {
namespace {

std::string encode(std::string_view bytes) {
  std::string out;
  append_base64(out, bytes);
  return out;
}

// RFC 4648, section 10.
constexpr std::pair<std::string_view, std::string_view> kExamples[] = {
    {"", ""},
    {"f", "Zg=="},
    {"fo", "Zm8="},
    {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="},
    {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
    {"\xfb\xff", "+/8="},
};

TEST(Base64, is_the_standard_one) {
  for (const auto& [bytes, text] : kExamples) {
    EXPECT_EQ(encode(bytes), text);
    EXPECT_EQ(decode_base64(text), bytes);
  }
}

TEST(Base64, refuses_what_is_not_the_one_spelling) {
  for (const std::string_view text : {"Zg", "Zg=", "Z", "Zg==Zg==", "Zh==", "Zm9=", "Zm 9v", "Zm-_",
                                      "====", "=", "Zm9v\n", "Z==="}) {
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
  }
}

TEST(Base64, takes_every_byte) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  EXPECT_EQ(decode_base64(encode(bytes)), bytes);
}

}  // namespace
}  // namespace penstock::wire
