#include "wire/json_digest.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace penstock::wire {
namespace {

JsonDigest digest(const std::string& text) {
  const Result<JsonDocument> document = parse_json(text);
  EXPECT_TRUE(document) << text;
  return JsonDigester().add(document->root()).finish();
}

TEST(JsonDigest, is_equal_for_what_means_the_same) {
  const std::vector<std::pair<std::string, std::string>> same = {
      {R"({"a":1,"b":[true,null]})", " { \"b\" : [ true , null ],\n\"a\":1 } "},
      {R"("\u0041é")", R"("A\u00e9")"},
      {"1.50", "15e-1"},
      {"100", "1E+2"},
      {"0", "-0.00e7"},
      {"-12.0", "-12"},
      {"123456789012345678901234567890", "1.2345678901234567890123456789e29"},
      {"{}", " { } "},
  };
  for (const auto& [a, b] : same) EXPECT_EQ(digest(a), digest(b)) << a << " and " << b;
}

TEST(JsonDigest, differs_for_what_does_not) {
  const std::vector<std::string> all = {"null",
                                        "false",
                                        "true",
                                        "0",
                                        "1",
                                        "-1",
                                        "10",
                                        "0.1",
                                        "12345678901234567",
                                        "12345678901234568",
                                        R"("")",
                                        R"("1")",
                                        R"("\u0000")",
                                        R"("a")",
                                        R"("abcdefgh")",
                                        R"("abcdefghi")",
                                        "[]",
                                        "[[]]",
                                        "[1]",
                                        "[1,2]",
                                        "[2,1]",
                                        "[[1],2]",
                                        "[[1,2]]",
                                        "{}",
                                        "[{}]",
                                        R"({"a":1})",
                                        R"({"a":"1"})",
                                        R"({"a":null})",
                                        R"({"b":1})",
                                        R"({"a":1,"b":2})",
                                        R"({"a":2,"b":1})",
                                        R"({"a":{"b":1}})",
                                        R"({"ab":1})"};
  std::set<JsonDigest> seen;
  for (const std::string& text : all) EXPECT_TRUE(seen.insert(digest(text)).second) << text;
}

TEST(JsonDigest, survives_absurd_exponents) {
  EXPECT_NE(digest("1e999999999999999999999"), digest("1e-999999999999999999999"));
  EXPECT_EQ(digest("0e999999999999999999999"), digest("0"));
}

}  // namespace
}  // namespace penstock::wire
