#include "tool/commands/payment_views.h"

#include <gtest/gtest.h>

namespace penstock::tool {
namespace {

template <class View>
std::string shown(View view, std::string_view json) {
  const Result<wire::JsonDocument> document = wire::parse_json(json);
  return view(document.value().root());
}

TEST(PaymentView, tells_where_it_stands_and_how_it_came_there) {
  EXPECT_EQ(shown(payment_view,
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
  EXPECT_EQ(shown(payment_view, R"({"paymentId":"p","status":"HELD","reason":"large"})"),
            "p  HELD  (large)\n");
}

TEST(PaymentView, shows_what_it_does_not_understand) {
  EXPECT_EQ(shown(payment_view, "[1]"), "[1]\n");
  EXPECT_EQ(shown(payment_view, R"({"paymentId":"p","status":"X","queue":3,"history":{}})"),
            "p  X\nqueue        retries \n");
}

TEST(RulesView, lists_them_in_their_order) {
  EXPECT_EQ(shown(rules_view, "[]"), "no rules: every well-formed payment is accepted\n");
  EXPECT_EQ(shown(rules_view,
                  R"([{"name":"large","when":{"amountAbove":"10"},"then":"hold","reason":"r"}])"),
            "large                    hold    when {\"amountAbove\":\"10\"}  reason: r\n");
}

}  // namespace
}  // namespace penstock::tool
