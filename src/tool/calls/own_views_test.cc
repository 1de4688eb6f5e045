#include "tool/calls/call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::tool {
namespace {

using testing::HasSubstr;

template <class View>
std::string view_of(View view, std::string_view json) {
  const auto document = wire::parse_json(json);
  return view(document.value().root());
}

TEST(SlotView, is_one_line_for_an_assignment) {
  EXPECT_EQ(view_of(slot_view, R"({"eventId":"e","scheduledTime":"T","delayMs":5,)"
                               R"("windowStart":"W","configName":"c"})"),
            "e  scheduled T  delay 5 ms  window W  config c\n");
}

TEST(SlotView, adds_what_a_look_up_knows) {
  EXPECT_THAT(view_of(slot_view, R"({"eventId":"e","status":"ASSIGNED","createdAt":"C",)"
                                 R"("configVersion":3})"),
              HasSubstr("status ASSIGNED  created C  config version 3\n"));
}

TEST(WindowsView, draws_a_bar_per_window) {
  const std::string text =
      view_of(windows_view, R"({"config":"c","pool":"p","windowSize":"PT4S","windows":[)"
                            R"({"windowStart":"A","used":1,"max":1000},)"
                            R"({"windowStart":"B","used":500,"max":1000},)"
                            R"({"windowStart":"C","used":2000,"max":1000}],"next":"N"})");
  EXPECT_THAT(text, HasSubstr("config c  pool p  window PT4S\n"));
  EXPECT_THAT(text, HasSubstr("1       1000  #\n"));
  EXPECT_THAT(text, HasSubstr("500       1000  " + std::string(20, '#') + "\n"));
  EXPECT_THAT(text, HasSubstr("2000       1000  " + std::string(40, '#') + "\n"));
  EXPECT_THAT(text, HasSubstr("there is more: --from N\n"));
}

TEST(WindowsView, says_when_there_is_none) {
  EXPECT_THAT(view_of(windows_view, R"({"config":"c","windows":[]})"),
              HasSubstr("no used windows in this time\n"));
}

TEST(ConfigsView, shows_one_config_or_all_versions) {
  EXPECT_THAT(view_of(configs_view, R"({"configName":"c","active":true,"version":2})"),
              HasSubstr("active"));
  const std::string text =
      view_of(configs_view, R"([{"configName":"c","version":2},{"configName":"c","version":1}])");
  EXPECT_EQ(std::ranges::count(text, '\n'), 3);
}

TEST(Views, survive_any_json) {
  for (const char* json : {"null", "5", "[]", "{}", "\"x\"", "[[]]", R"({"windows":[1,null]})",
                           R"({"windows":5})", "[1]"}) {
    for (const auto view : {slot_view, windows_view, configs_view}) {
      EXPECT_FALSE(view_of(view, json).empty());
    }
  }
}

TEST(PaymentView, tells_where_it_stands_and_how_it_came_there) {
  EXPECT_EQ(view_of(payment_view,
                    R"({"paymentId":"p","status":"ACCEPTED","amount":"1.50","currency":"EUR",)"
                    R"("debtorIban":"D","creditorIban":"C","scheduledTime":"T","reference":null,)"
                    R"("queue":{"status":"DISPATCHED","retryCount":1,"lastError":"503"},)"
                    R"("history":[{"at":"A","from":null,"to":"SCHEDULED","detail":null},)"
                    R"({"at":"B","from":"SCHEDULED","to":"ACCEPTED","detail":"by hand"}]})"),
            "p  ACCEPTED\n1.50 EUR  from D  to C\nscheduled  T\n"
            "queue      DISPATCHED  retries 1  last error: 503\n"
            "A  SCHEDULED\nB  SCHEDULED -> ACCEPTED  by hand\n");
}

TEST(PaymentView, tells_why_it_is_held) {
  EXPECT_EQ(view_of(payment_view, R"({"paymentId":"p","status":"HELD","reason":"large"})"),
            "p  HELD  (large)\n");
}

TEST(PaymentView, shows_what_it_does_not_understand) {
  EXPECT_EQ(view_of(payment_view, "[1]"), "[1]\n");
  EXPECT_EQ(view_of(payment_view, R"({"paymentId":"p","status":"X","queue":3,"history":{}})"),
            "p  X\nqueue        retries \n");
}

TEST(RulesView, lists_them_in_their_order) {
  EXPECT_EQ(view_of(rules_view, "[]"), "no rules: every well-formed payment is accepted\n");
  EXPECT_EQ(view_of(rules_view,
                    R"([{"name":"large","when":{"amountAbove":"10"},"then":"hold","reason":"r"}])"),
            "large                    hold    when {\"amountAbove\":\"10\"}  reason: r\n");
}

}  // namespace
}  // namespace penstock::tool
