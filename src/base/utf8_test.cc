#include "base/utf8.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {
namespace {

// The textbook encoding, written apart from the code under test. Fits the small-string buffer.
std::string encoded(std::uint32_t code) {
  const auto tail = [code](int shift) {
    return static_cast<char>(0x80 | ((code >> shift) & 0x3f));
  };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xc0 | (code >> 6)), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xe0 | (code >> 12)), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | (code >> 18)), tail(12), tail(6), tail(0)};
}

// A copy of exactly these bytes on the heap, so that a read past the end is seen by ASAN.
std::size_t length_of(std::string_view bytes) {
  const std::vector<char> exact(bytes.begin(), bytes.end());
  return utf8_length({exact.data(), exact.size()});
}

TEST(Utf8, takes_every_code_point_and_refuses_its_prefixes) {
  for (std::uint32_t code = 0; code <= 0x10ffff; ++code) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    std::string text = encoded(code);
    const std::size_t size = text.size();
    text += 'x';
    for (std::size_t cut = 1; cut <= text.size(); ++cut) {
      const std::size_t length = utf8_length(std::string_view(text).substr(0, cut));
      if (length != (cut < size ? 0 : size)) FAIL() << std::hex << code << " cut to " << cut;
    }
  }
}

TEST(Utf8, never_reads_past_a_text_that_ends_early) {
  for (const std::uint32_t code : {0x80U, 0x7ffU, 0x800U, 0xffffU, 0x10000U, 0x10ffffU}) {
    const std::string text = encoded(code);
    EXPECT_EQ(length_of(text), text.size());
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
      EXPECT_EQ(length_of(text.substr(0, cut)), 0U) << std::hex << code;
    }
  }
}

TEST(Utf8, takes_no_more_two_and_three_byte_sequences_than_there_are_code_points) {
  std::size_t twos = 0;
  std::size_t threes = 0;
  std::array<char, 3> bytes{};
  for (std::uint32_t all = 0; all < 0x1000000; ++all) {
    bytes[0] = static_cast<char>(all >> 16);
    bytes[1] = static_cast<char>(all >> 8);
    bytes[2] = static_cast<char>(all);
    const std::size_t length = utf8_length({bytes.data(), bytes.size()});
    twos += length == 2 && bytes[2] == 'x';  // one third byte stands for all
    threes += length == 3;
  }
  EXPECT_EQ(twos, 0x800U - 0x80U);
  EXPECT_EQ(threes, 0x10000U - 0x800U - 0x800U);  // without the surrogates
}

TEST(Utf8, takes_no_more_four_byte_sequences_than_there_are_code_points) {
  constexpr std::array<std::uint32_t, 8> kThirds = {0x00, 0x7f, 0x80, 0x9f, 0xa0, 0xbf, 0xc0, 0xff};
  std::size_t fours = 0;
  std::size_t longer = 0;
  for (std::uint32_t front = 0; front < 0x10000; ++front) {
    for (const std::uint32_t third : kThirds) {
      for (const std::uint32_t fourth : kThirds) {
        const std::array<char, 5> bytes = {static_cast<char>(front >> 8), static_cast<char>(front),
                                           static_cast<char>(third), static_cast<char>(fourth),
                                           static_cast<char>(0x80)};
        const std::size_t length = utf8_length({bytes.data(), bytes.size()});
        fours += length == 4;
        longer += length > 4;
      }
    }
  }
  // The first two bytes say all but the last 12 bits; four of the eight are continuation bytes.
  EXPECT_EQ(fours, 0x100000U / 0x1000U * 4U * 4U);
  EXPECT_EQ(longer, 0U);
}

TEST(Utf8, refuses_the_well_known_impostors) {
  EXPECT_EQ(length_of("\x80"), 0U);              // a continuation byte alone
  EXPECT_EQ(length_of("\xc0\x80"), 0U);          // NUL in two bytes
  EXPECT_EQ(length_of("\xc1\xbf"), 0U);          // overlong
  EXPECT_EQ(length_of("\xe0\x9f\xbf"), 0U);      // overlong
  EXPECT_EQ(length_of("\xed\xa0\x80"), 0U);      // the first surrogate
  EXPECT_EQ(length_of("\xed\xbf\xbf"), 0U);      // the last surrogate
  EXPECT_EQ(length_of("\xf0\x8f\xbf\xbf"), 0U);  // overlong
  EXPECT_EQ(length_of("\xf4\x90\x80\x80"), 0U);  // U+110000
  EXPECT_EQ(length_of("\xf5\x80\x80\x80"), 0U);
  EXPECT_EQ(length_of("\xff"), 0U);
}

static_assert(utf8_length("\xe2\x82\xac") == 3, "usable at compile time");

}  // namespace
}  // namespace penstock
