#include "base/nearest.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace penstock {
namespace {

TEST(EditDistance, counts_each_kind_of_slip_once) {
  EXPECT_EQ(edit_distance("listen", "listen"), 0U);
  EXPECT_EQ(edit_distance("lisen", "listen"), 1U);    // missing
  EXPECT_EQ(edit_distance("liisten", "listen"), 1U);  // extra
  EXPECT_EQ(edit_distance("lisben", "listen"), 1U);   // replaced
  EXPECT_EQ(edit_distance("lsiten", "listen"), 1U);   // swapped
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(EditDistance, takes_other_spellings_of_the_same_words_as_equal) {
  EXPECT_EQ(edit_distance("maxDelay", "max-delay"), 0U);
  EXPECT_EQ(edit_distance("max_delay", "max-delay"), 0U);
  EXPECT_EQ(edit_distance("MAX_DELAY", "max-delay"), 0U);
}

TEST(EditDistance, is_bounded_for_very_long_names) {
  EXPECT_EQ(edit_distance(std::string(1'000'000, 'a'), ""), 100U);
}

constexpr std::array<std::string_view, 5> kPaths{"http", "http.listen", "http.tls",
                                                 "http.tls.key-file", "log.level"};

TEST(NearestPath, finds_the_slip_in_place) {
  EXPECT_EQ(nearest_path("http.lisen", kPaths), "http.listen");
  EXPECT_EQ(nearest_path("htpp", kPaths), "http");
}

TEST(NearestPath, finds_the_right_word_under_another_section) {
  EXPECT_EQ(nearest_path("listen", kPaths), "http.listen");
  EXPECT_EQ(nearest_path("http.level", kPaths), "log.level");
  EXPECT_EQ(nearest_path("http.tls-key-file", kPaths), "http.tls.key-file");
}

TEST(NearestName, is_empty_without_candidates) { EXPECT_EQ(nearest_name("x", {}), ""); }

}  // namespace
}  // namespace penstock
