#include "tool/top/top_view.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/json.h"

namespace penstock::tool {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string type_json(const std::string& name, int dispatched) {
  return fmt::format(R"({{"type":"{}","dispatched":{},"failed":0,"slowDowns":0,"paceUsed":0.995,)"
                     R"("paused":false,"leaseHeld":true,"depths":[1000,32,10,0,0]}})",
                     name, dispatched);
}

// Two samples a second apart, of a daemon that does everything a little.
TopState busy(int types = 1) {
  TopState state;
  EXPECT_TRUE(state.take_event(
      "history",
      R"({"columns":["allowed","denied","throttleKeys","slotsGiven","slotDelaySeconds","READY",)"
      R"("serverErrors"],"rows":[[0,0,0,5,0,0,0,0]]})"));
  for (int i = 1; i <= 2; ++i) {
    std::string each;
    for (int t = 0; t < types; ++t) {
      each +=
          (t == 0 ? "" : ",") + type_json(t == 0 ? "PAYMENT" : fmt::format("TYPE-{}", t), i * 500);
    }
    EXPECT_TRUE(state.take_event(
        "sample", fmt::format(R"({{"t":{},"c":[{},{},5,{},{},1000,0],"types":[{}],)"
                              R"("checks":[{{"name":"store","up":true}},)"
                              R"({{"name":"kafka","up":false,"message":"no\u001b[2Jbroker"}}]}})",
                              i * 1000, i * 53'412, i * 7, i * 10, i * 12, each)));
  }
  EXPECT_TRUE(state.take_types(R"([{"itemType":"PAYMENT","enabled":true,"maxPerSecond":500}])"));
  EXPECT_TRUE(state.take_summary(R"({"itemType":"PAYMENT","predictedDrainSeconds":2})"));
  return state;
}

std::string text_of(const std::vector<ViewLine>& lines) {
  std::string text;
  for (const ViewLine& line : lines) text += line.text + "\n";
  return text;
}

TEST(TopView, shows_rates_queue_types_and_health) {
  const std::string text = text_of(top_view(busy(), "http://h", {.width = 100, .height = 40}));
  EXPECT_THAT(text, HasSubstr("penstock top  live  00:00:02Z  http://h\n"));
  EXPECT_THAT(text, HasSubstr("THROTTLE  allowed 53,412/s  denied 7.0/s  keys 5\n"));
  EXPECT_THAT(text, HasSubstr("SLOTS  given 10/s  delay 1.2 s  answered in -  failures 0/s\n"));
  EXPECT_THAT(text, HasSubstr("  QUEUE  READY 1,000  CLAIMED 0"));
  EXPECT_THAT(text, HasSubstr("store up"));
  EXPECT_THAT(text, HasSubstr("kafka DOWN: no?[2Jbroker\n")) << "nothing may steer the terminal";
  EXPECT_THAT(text, testing::ContainsRegex("PAYMENT +500 +500 +100% +1,000 +32 +0 +2.0 s"));
  EXPECT_THAT(text, HasSubstr("█"));
}

TEST(TopView, every_line_fits_whatever_the_size) {
  const TopState state = busy(30);
  for (std::size_t width = 20; width < 130; ++width) {
    for (const std::size_t height : {1, 2, 5, 10, 17, 24, 60}) {
      const auto lines = top_view(state, "http://127.0.0.1:8080", {width, height});
      ASSERT_LE(lines.size(), height) << width;
      for (const ViewLine& line : lines) {
        ASSERT_LE(columns_of(line.text), width) << line.text;
        ASSERT_EQ(line.text.find('\n'), std::string::npos);
      }
    }
  }
}

TEST(TopView, health_and_figures_stay_when_there_is_little_room) {
  const std::string text = text_of(top_view(busy(30), "http://h", {.width = 80, .height = 9}));
  EXPECT_THAT(text, HasSubstr("kafka DOWN"));
  EXPECT_THAT(text, HasSubstr("THROTTLE"));
  EXPECT_THAT(text, HasSubstr("SLOTS"));
  EXPECT_THAT(text, Not(HasSubstr("█"))) << "bars go first";
}

TEST(TopView, says_how_many_types_are_not_shown) {
  const std::string text = text_of(top_view(busy(30), "http://h", {.width = 80, .height = 24}));
  EXPECT_THAT(text, HasSubstr("PAYMENT"));
  EXPECT_THAT(text, testing::ContainsRegex("\\.\\.\\. and [0-9]+ more types"));
}

TEST(TopView, says_when_the_daemon_is_away) {
  TopState state = busy();
  state.lose("no answer from http://h: timed out");
  const auto lines = top_view(state, "http://h", {.width = 80, .height = 24});
  EXPECT_EQ(lines[1].text, "lost: no answer from http://h: timed out; trying again");
  EXPECT_EQ(lines[1].tone, Tone::bad);
  EXPECT_THAT(text_of(lines), HasSubstr("THROTTLE")) << "what was known last stays";
  const auto never = top_view(TopState(), "http://h", {});
  EXPECT_EQ(never[1].text, "connecting");
}

TEST(TopView, json_has_the_same) {
  const std::string json = top_json(busy(), "http://h");
  const auto document = wire::parse_json(json);
  ASSERT_TRUE(document) << json;
  EXPECT_EQ(document->root().find("allowedPerSecond").integer(), 53'412);
  const wire::JsonValue type = document->root().find("types").first();
  EXPECT_EQ(type.find("maxPerSecond").integer(), 500);
  EXPECT_EQ(type.find("READY").integer(), 1'000);
  EXPECT_EQ(document->root().find("checks").size(), 2U);
}

TEST(Sparkline, is_highest_where_most_was) {
  EXPECT_EQ(sparkline({0, 1, 4, 8}, 10), "▁▂▅█");
  EXPECT_EQ(sparkline({0, 1, 4, 8}, 2), "▅█");
  EXPECT_EQ(sparkline({0, 0}, 10), "▁▁");
  EXPECT_EQ(sparkline({}, 10), "");
}

}  // namespace
}  // namespace penstock::tool
