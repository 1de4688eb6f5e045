#include "base/same_bytes.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock {
namespace {

TEST(SameBytes, sees_every_byte_of_every_size) {
  for (std::size_t size = 1; size <= 100; ++size) {
    const std::string text(size, 'a');
    EXPECT_TRUE(same_bytes(text.data(), std::string(text).data(), size)) << size;
    for (std::size_t at = 0; at < size; ++at) {
      std::string other = text;
      other[at] ^= 1;
      EXPECT_FALSE(same_bytes(text.data(), other.data(), size)) << size << " " << at;
    }
  }
}

TEST(SameBytes, looks_at_nothing_beyond) {
  for (std::size_t size = 1; size <= 100; ++size) {
    const std::string left = "x" + std::string(size, 'a') + "y";
    const std::string right = "z" + std::string(size, 'a') + "w";
    EXPECT_TRUE(same_bytes(left.data() + 1, right.data() + 1, size)) << size;
  }
}

}  // namespace
}  // namespace penstock
