#include "tool/top/prometheus_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/json.h"

namespace penstock::tool {
namespace {

TEST(ParsePrometheus, reads_names_labels_and_values) {
  const auto samples = parse_prometheus(
      "# HELP x Some \"text\".\n# TYPE x counter\nx 5\n"
      "y_total{a=\"1\",b=\"say \\\"hi\\\" \\\\ }\"} 1.5e3 1700000000\nz{} +Inf");
  ASSERT_EQ(samples.size(), 3U);
  EXPECT_EQ(samples[0].name, "x");
  EXPECT_EQ(samples[0].value, "5");
  EXPECT_EQ(samples[1].label_text(), "a=1 b=say \"hi\" \\ }");
  EXPECT_EQ(samples[1].value, "1.5e3");
  EXPECT_EQ(samples[2].value, "+Inf");
}

TEST(ParsePrometheus, passes_over_what_is_no_sample) {
  for (const char* text : {"", "\n\n", "name", "name{", "name{a}", "name{a=\"b} 1",
                           "name{a=\"b\"}1", " 1", "{} 1", "name{a=\"b\"", "x "}) {
    EXPECT_TRUE(parse_prometheus(text).empty()) << text;
  }
}

TEST(SamplesJson, is_json_whatever_the_values_are) {
  const std::string json = samples_json(parse_prometheus("x{a=\"q\\\"\"} 5\ny NaN\nz 0x5\n"));
  EXPECT_EQ(json,
            "[{\"name\":\"x\",\"labels\":{\"a\":\"q\\\"\"},\"value\":5},\n"
            "{\"name\":\"y\",\"labels\":{},\"value\":\"NaN\"},\n"
            "{\"name\":\"z\",\"labels\":{},\"value\":\"0x5\"}]");
  EXPECT_TRUE(wire::parse_json(json));
  EXPECT_EQ(samples_json({}), "[]");
}

}  // namespace
}  // namespace penstock::tool
