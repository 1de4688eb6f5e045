// The routes of payments, called through the table as the server calls them: status and body.
#include "front/http/routes/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "front/http/routes/test_route_call.h"
#include "front/http/server/router.h"
#include "service/testing/payments.h"
#include "wire/batch.h"
#include "wire/payments.h"

namespace penstock::front {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kAccounts =
    R"("debtorIban":"DE89370400440532013000","creditorIban":"GB82WEST12345698765432")";

std::string payment(std::string_view id, std::string_view amount = "125.50",
                    std::string_view more = {}) {
  return R"({"paymentId":")" + std::string(id) + R"(","amount":")" + std::string(amount) +
         R"(","currency":"EUR",)" + std::string(kAccounts) +
         R"(,"executionTime":"2200-01-01T00:00:00Z")" + std::string(more) + "}";
}

class PaymentRoutesTest : public testing::Test {
 protected:
  PaymentRoutesTest() {
    std::vector<Route> routes;
    add_payment_routes(routes, *node_.service, 1'000, node_.clock);
    router_ = std::make_unique<Router>(std::move(routes));
  }

  Response send(Method method, const std::string& target, std::string body = {},
                std::string content_type = {}) {
    const std::size_t mark = std::min(target.find('?'), target.size());
    RouteCall call{.method = method, .path = target.substr(0, mark), .body = std::move(body)};
    if (mark < target.size()) call.query = target.substr(mark + 1);
    if (!content_type.empty()) call.headers = {{"Content-Type", std::move(content_type)}};
    const RouteMatch match = router_->match(method, call.path, call.params);
    return answer_of(match.route, std::move(call));
  }
  Response post(const std::string& body) { return send(Method::post, "/api/v1/payments", body); }
  Response batch(const std::string& body, const std::string& type = {}) {
    return send(Method::post, "/api/v1/payments/batch", body, type);
  }
  Response get(const std::string& id) { return send(Method::get, "/api/v1/payments/" + id); }
  Response report(const std::string& id, const std::string& status) {
    return send(Method::post, "/api/v1/payments/" + id + "/status",
                R"({"status":")" + status + "\"}");
  }
  Response put_rules(const std::string& rules) {
    return send(Method::put, "/admin/payments/rules", rules);
  }
  void set_rules() {
    ASSERT_EQ(put_rules(R"([{"name":"limit","when":{"currency":"EUR","amountAbove":"1000"},)"
                        R"("then":"reject","reason":"over the limit"},)"
                        R"({"name":"look","when":{"amountAbove":"500"},"then":"hold",)"
                        R"("reason":"a second pair of eyes"}])")
                  .status,
              200);
  }

  service::TestPayments node_{{.body = wire::encode_payment_body,
                               .context = wire::encode_payment_context,
                               .read_body = wire::decode_payment_body}};
  std::unique_ptr<Router> router_;
};

TEST_F(PaymentRoutesTest, take_a_payment_once) {
  const Response first = post(payment("a"));
  EXPECT_EQ(first.status, 202);
  EXPECT_EQ(first.body,
            R"({"paymentId":"a","status":"SCHEDULED","scheduledTime":"2200-01-01T00:00:00.000Z"})");
  EXPECT_EQ(post(payment("a")).status, 200);
  EXPECT_EQ(post(payment("a", "125.5")).status, 200) << "the same amount";
  const Response other = post(payment("a", "125.51"));
  EXPECT_EQ(other.status, 409);
  EXPECT_THAT(other.body, HasSubstr("another body"));
}

TEST_F(PaymentRoutesTest, name_the_field_of_what_is_malformed) {
  const Response bad = post(payment("a", "1.234"));
  EXPECT_EQ(bad.status, 400);
  EXPECT_THAT(bad.body, HasSubstr(R"("field":"amount")"));
  EXPECT_EQ(post(payment("batch")).status, 400);
  EXPECT_EQ(post(payment("a b")).status, 400);
  EXPECT_EQ(post("{").status, 400);
  EXPECT_EQ(post(payment("a", "1.00", R"(,"metadata":7)")).status, 400);
  EXPECT_EQ(post(payment("a", "1.00", R"(,"amount":"2.00")")).status, 400) << "a key twice";
  EXPECT_EQ(
      post(payment("a", "1.00", R"(,"metadata":{"a":")" + std::string(1'000, 'x') + "\"}")).status,
      413);
  EXPECT_EQ(send(Method::post, "/api/v1/payments", payment("a"), "text/plain").status, 415);
}

TEST_F(PaymentRoutesTest, refuse_and_hold_by_the_rules) {
  set_rules();
  const Response refused = post(payment("r", "1000.01"));
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(refused.body, HasSubstr(R"("status":422,"error":"Unprocessable Content")"));
  EXPECT_THAT(refused.body, HasSubstr(R"("requestId":"req-1","payment":{"paymentId":"r",)"
                                      R"("status":"REJECTED","reason":"over the limit"}})"));
  EXPECT_EQ(post(payment("r", "1000.01")).status, 422) << "it is kept, and stays refused";
  EXPECT_THAT(get("r").body, HasSubstr(R"("status":"REJECTED","reason":"over the limit")"));
  const Response held = post(payment("h", "600"));
  EXPECT_EQ(held.status, 202);
  EXPECT_THAT(held.body, HasSubstr(R"("status":"HELD")"));
  EXPECT_THAT(held.body, HasSubstr(R"("reason":"a second pair of eyes")"));
  EXPECT_EQ(post(payment("h", "600")).status, 200);
  EXPECT_EQ(post(payment("ok", "500")).status, 202);
}

TEST_F(PaymentRoutesTest, release_what_is_held) {
  set_rules();
  post(payment("h", "600"));
  const Response released = send(Method::post, "/api/v1/payments/h/release");
  EXPECT_EQ(released.status, 200);
  EXPECT_THAT(released.body, HasSubstr(R"("status":"SCHEDULED")"));
  EXPECT_THAT(released.body, HasSubstr(R"("queue":{"status":"READY")"));
  EXPECT_EQ(send(Method::post, "/api/v1/payments/h/release").status, 409);
  EXPECT_EQ(send(Method::post, "/api/v1/payments/x/release").status, 404);
}

TEST_F(PaymentRoutesTest, show_all_of_a_payment) {
  post(payment("a", "125.5", R"(,"reference":"inv 7","metadata":{"b":[1]})"));
  const Response shown = get("a");
  EXPECT_EQ(shown.status, 200);
  EXPECT_THAT(
      shown.body,
      testing::StartsWith(
          R"({"paymentId":"a","amount":"125.50","currency":"EUR",)" + std::string(kAccounts) +
          R"(,"executionTime":"2200-01-01T00:00:00.000Z","reference":"inv 7","metadata":{"b":[1]},)"
          R"("status":"SCHEDULED","scheduledTime":"2200-01-01T00:00:00.000Z","createdAt":")"));
  EXPECT_THAT(shown.body, HasSubstr(R"("queue":{"status":"READY","scheduledTime":)"
                                    R"("2200-01-01T00:00:00.000Z","retryCount":0,"attempts":0,)"
                                    R"("lastError":null},"history":[{"at":")"));
  EXPECT_THAT(shown.body, HasSubstr(R"("from":null,"to":"SCHEDULED","detail":null}]})"));
  EXPECT_EQ(get("nobody").status, 404);
}

TEST_F(PaymentRoutesTest, take_reports_along_the_arrows) {
  post(payment("a"));
  EXPECT_EQ(report("a", "PROCESSING").status, 409);
  EXPECT_THAT(report("a", "ACCEPTED").body, HasSubstr(R"("status":"ACCEPTED")"));
  EXPECT_EQ(report("a", "ACCEPTED").status, 200);
  EXPECT_EQ(report("a", "PROCESSING").status, 200);
  EXPECT_EQ(report("a", "ACCEPTED").status, 409);
  EXPECT_EQ(report("a", "HELD").status, 409);
  EXPECT_EQ(report("a", "DONE").status, 400);
  EXPECT_EQ(report("x", "ACCEPTED").status, 404);
}

TEST_F(PaymentRoutesTest, answer_each_entry_of_a_batch_in_its_place) {
  set_rules();
  const Response answer =
      batch("[" + payment("a") + "," + payment("b", "x") + "," + payment("c", "2000") + "," +
            payment("a") + ",7," + payment("d", "600") + "]");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(
      answer.body,
      R"({"results":[{"paymentId":"a","status":202,"state":"SCHEDULED",)"
      R"("scheduledTime":"2200-01-01T00:00:00.000Z"},)"
      R"({"paymentId":"b","status":400,"error":"Bad Request",)"
      R"("message":"amount: must be a decimal number like 125.50","field":"amount"},)"
      R"({"paymentId":"c","status":422,"error":"Unprocessable Content","message":"over the limit",)"
      R"("payment":{"paymentId":"c","status":"REJECTED","reason":"over the limit"}},)"
      R"({"paymentId":"a","status":200,"state":"SCHEDULED","scheduledTime":"2200-01-01T00:00:00.000Z"},)"
      R"({"paymentId":"","status":400,"error":"Bad Request",)"
      R"("message":"the request must be an object, not a number"},)"
      R"({"paymentId":"d","status":202,"state":"HELD","scheduledTime":"2200-01-01T00:00:00.000Z",)"
      R"("reason":"a second pair of eyes"}]})");
  EXPECT_EQ(batch("[]").body, R"({"results":[]})");
  EXPECT_EQ(batch("{}").status, 400);
  EXPECT_EQ(batch("x", "text/plain").status, 415);
}

TEST_F(PaymentRoutesTest, read_batches_by_line) {
  const Response lines =
      batch(payment("a") + "\n{\n" + payment("b") + "\n", "application/x-ndjson");
  EXPECT_THAT(lines.body, HasSubstr(R"({"paymentId":"a","status":202)"));
  EXPECT_THAT(lines.body, HasSubstr(R"({"paymentId":"","status":400)"));
  EXPECT_THAT(lines.body, HasSubstr(R"({"paymentId":"b","status":202)"));
}

TEST_F(PaymentRoutesTest, read_batches_of_csv) {
  const std::string header =
      "paymentId,amount,currency,debtorIban,creditorIban,executionTime,reference,metadata\n";
  const std::string rest =
      ",EUR,DE89370400440532013000,GB82WEST12345698765432,2200-01-01T00:00:00Z,";
  const Response answer = batch(header + "a,1.00" + rest + "\"x, y\",\"{\"\"k\"\":1}\"\r\n" +
                                    "b,1.001" + rest + ",\nc\"\nd,2" + rest + ",\n",
                                "text/csv; charset=utf-8");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr(R"({"paymentId":"a","status":202)"));
  EXPECT_THAT(answer.body, HasSubstr(R"({"paymentId":"b","status":400)"));
  EXPECT_THAT(answer.body, HasSubstr(R"("field":"amount")"));
  EXPECT_THAT(answer.body, HasSubstr("the row has a quote inside a field"));
  EXPECT_THAT(answer.body, HasSubstr(R"({"paymentId":"d","status":202)"));
  EXPECT_THAT(get("a").body, HasSubstr(R"("reference":"x, y","metadata":{"k":1})"));
  EXPECT_EQ(batch("", "text/csv").status, 400);
  EXPECT_EQ(batch("paymentId,amount\na,1\n", "text/csv").status, 400);
  EXPECT_EQ(batch(header, "text/csv").body, R"({"results":[]})");
}

TEST_F(PaymentRoutesTest, refuse_a_batch_that_is_too_long) {
  std::string lines;
  std::string rows = "paymentId,amount,currency,debtorIban,creditorIban,executionTime\n";
  for (std::size_t i = 0; i <= wire::kBatchEntriesMax; ++i) {
    lines += "{}\n";
    rows += "a\n";
  }
  EXPECT_EQ(batch(lines, "application/x-ndjson").status, 413);
  EXPECT_EQ(batch(rows, "text/csv").status, 413);
}

TEST_F(PaymentRoutesTest, list_by_status_and_page) {
  set_rules();
  for (const char* id : {"a", "b", "c"}) post(payment(id));
  post(payment("h", "600"));
  const Response first = send(Method::get, "/api/v1/payments?limit=2&status=SCHEDULED");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.body, R"([{"paymentId":"a","status":"SCHEDULED",)"
                        R"("scheduledTime":"2200-01-01T00:00:00.000Z"},)"
                        R"({"paymentId":"b","status":"SCHEDULED",)"
                        R"("scheduledTime":"2200-01-01T00:00:00.000Z"}])");
  EXPECT_EQ(first.headers.at(0).second,
            R"(</api/v1/payments?status=SCHEDULED&limit=2&after=b>; rel="next")");
  EXPECT_THAT(send(Method::get, "/api/v1/payments?status=HELD").body,
              HasSubstr(R"("reason":"a second pair of eyes")"));
  EXPECT_THAT(send(Method::get, "/api/v1/payments?after=c").body, Not(HasSubstr("SCHEDULED")));
  EXPECT_EQ(send(Method::get, "/api/v1/payments?status=WHAT").status, 400);
  EXPECT_EQ(send(Method::get, "/api/v1/payments?after=%20").status, 400);
  EXPECT_EQ(send(Method::get, "/api/v1/payments?limit=0").status, 400);
}

TEST_F(PaymentRoutesTest, show_the_rules_that_were_put) {
  EXPECT_EQ(send(Method::get, "/admin/payments/rules").body, "[]");
  set_rules();
  EXPECT_THAT(send(Method::get, "/admin/payments/rules").body,
              HasSubstr(R"("amountAbove":"1000"},"then":"reject")"));
  const Response bad =
      put_rules(R"([{"name":"a","when":{"country":"de"},"then":"hold","reason":"r"}])");
  EXPECT_EQ(bad.status, 400);
  EXPECT_THAT(bad.body, HasSubstr(R"("field":"[0].when.country")"));
  EXPECT_EQ(put_rules("{}").status, 400);
  EXPECT_THAT(send(Method::get, "/admin/payments/rules").body, HasSubstr("limit"));
  EXPECT_EQ(put_rules("[]").body, "[]");
}

}  // namespace
}  // namespace penstock::front
