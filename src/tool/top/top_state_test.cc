#include "tool/top/top_state.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace penstock::tool {
namespace {

constexpr const char* kHistory =
    R"({"columns":["allowed","denied","slotDelaySeconds","slotsGiven"],)"
    R"("rows":[[1000,10,0,0,0],[2000,30,5,6,3]]})";

std::string sample(int t, int allowed, const std::string& types = "", double dispatched = 0) {
  return fmt::format(
      R"({{"t":{},"c":[{},5,6,3],"types":[{}],"checks":[{{"name":"store","up":true}},)"
      R"({{"name":"kafka","up":false,"message":"no broker"}}]}})",
      t, allowed,
      types.empty() ? ""
                    : fmt::format(R"({{"type":"{}","dispatched":{},"failed":1,"slowDowns":0,)"
                                  R"("paceUsed":0.5,"paused":true,"leaseHeld":true,)"
                                  R"("depths":[7,1,2,3,4]}})",
                                  types, dispatched));
}

TopState live() {
  TopState state;
  EXPECT_TRUE(state.take_event("history", kHistory));
  return state;
}

TEST(TopState, makes_rates_and_means_of_totals) {
  TopState state = live();
  EXPECT_EQ(state.link(), TopState::Link::live);
  EXPECT_EQ(state.rate("allowed"), 20);
  EXPECT_EQ(state.last("denied"), 5);
  EXPECT_EQ(state.mean("slotDelaySeconds", "slotsGiven"), 2);
  EXPECT_EQ(state.rate("unknown"), 0);
  ASSERT_TRUE(state.take_event("sample", sample(4000, 130)));
  EXPECT_EQ(state.rate("allowed"), 50) << "100 in two seconds";
  EXPECT_EQ(state.rates({"allowed", "denied"}), (std::vector<double>{25, 50}));
  EXPECT_EQ(state.checks().size(), 2U);
  EXPECT_EQ(state.checks()[1].message, "no broker");
}

TEST(TopState, a_restart_is_no_negative_rate) {
  TopState state = live();
  ASSERT_TRUE(state.take_event("sample", sample(3000, 1)));
  EXPECT_EQ(state.rate("allowed"), 0);
}

TEST(TopState, knows_what_a_type_does_against_its_pace) {
  TopState state = live();
  ASSERT_TRUE(state.take_event("sample", sample(3000, 30, "PAYMENT", 100)));
  ASSERT_TRUE(state.take_event("sample", sample(4000, 30, "PAYMENT", 350)));
  ASSERT_EQ(state.types().size(), 1U);
  const TopType& type = state.types()[0];
  EXPECT_EQ(state.type_rate(type), 250);
  EXPECT_EQ(type.depths[3], 3);
  EXPECT_EQ(state.settings("PAYMENT"), nullptr);
  ASSERT_TRUE(state.take_types(
      R"([{"itemType":"PAYMENT","enabled":false,"maxPerSecond":500},{"itemType":"X","enabled":true}])"));
  ASSERT_TRUE(state.take_summary(R"({"itemType":"PAYMENT","predictedDrainSeconds":12})"));
  ASSERT_NE(state.settings("PAYMENT"), nullptr);
  EXPECT_FALSE(state.settings("PAYMENT")->enabled);
  EXPECT_EQ(state.settings("PAYMENT")->max_per_second, 500);
  EXPECT_EQ(state.settings("PAYMENT")->drain_seconds, 12);
  EXPECT_EQ(state.settings("X")->max_per_second, std::nullopt);
}

TEST(TopState, says_when_the_daemon_was_away) {
  TopState state;
  state.lose("cannot reach it");
  EXPECT_EQ(state.link(), TopState::Link::connecting) << "it was never there";
  ASSERT_TRUE(state.take_event("history", kHistory));
  EXPECT_EQ(state.reconnects(), 0U);
  state.lose("ended");
  EXPECT_EQ(state.link(), TopState::Link::lost);
  EXPECT_EQ(state.problem(), "ended");
  ASSERT_TRUE(state.take_event("history", kHistory));
  EXPECT_EQ(state.link(), TopState::Link::live);
  EXPECT_EQ(state.reconnects(), 1U);
}

TEST(TopState, keeps_a_minute) {
  TopState state = live();
  for (int i = 3; i < 500; ++i) ASSERT_TRUE(state.take_event("sample", sample(i * 1000, i)));
  EXPECT_EQ(state.rates({"allowed"}).size(), 60U);
}

TEST(TopState, refuses_what_it_does_not_understand_and_stays_as_it_was) {
  TopState state = live();
  for (const char* bad : {"", "[]", "{}", "nonsense", R"({"columns":1,"rows":[]})",
                          R"({"t":1,"c":[],"types":[],"checks":3})"}) {
    EXPECT_FALSE(state.take_event("sample", bad)) << bad;
    EXPECT_FALSE(state.take_event("history", bad)) << bad;
  }
  EXPECT_TRUE(state.take_event("other", "nonsense")) << "events of later versions";
  EXPECT_FALSE(state.take_types("{}"));
  EXPECT_FALSE(state.take_summary("[]"));
  EXPECT_EQ(state.rate("allowed"), 20);
}

}  // namespace
}  // namespace penstock::tool
