#include "wire/http/errors.h"

#include <gtest/gtest.h>

namespace penstock::wire {
namespace {

const Instant kAnswered = from_epoch_millis(1'748'779'200'123);  // 2025-06-01T12:00:00.123Z

std::string retry_after(const Response& response) {
  for (const auto& [name, value] : response.headers) {
    if (name == "Retry-After") return value;
  }
  return "none";
}

TEST(Errors, every_kind_has_its_status) {
  EXPECT_EQ(status_of(ErrorKind::invalid), 400);
  EXPECT_EQ(status_of(ErrorKind::too_large), 413);
  EXPECT_EQ(status_of(ErrorKind::not_found), 404);
  EXPECT_EQ(status_of(ErrorKind::conflict), 409);
  EXPECT_EQ(status_of(ErrorKind::limited), 429);
  EXPECT_EQ(status_of(ErrorKind::exhausted), 503);
  EXPECT_EQ(status_of(ErrorKind::overloaded), 503);
  EXPECT_EQ(status_of(ErrorKind::unavailable), 503);
  EXPECT_EQ(status_of(ErrorKind::timeout), 503);
  EXPECT_EQ(status_of(ErrorKind::corrupt), 503);
}

TEST(Errors, statuses_have_reasons) {
  EXPECT_EQ(reason_of(200), "OK");
  EXPECT_EQ(reason_of(404), "Not Found");
  EXPECT_EQ(reason_of(504), "Gateway Timeout");
  EXPECT_EQ(reason_of(299), "Unknown");
  EXPECT_EQ(reason_of(999), "Unknown");
}

TEST(Errors, body_has_the_fields_of_the_contract) {
  const Response response = error_response(404, "there is no \"x\"", "id-1", kAnswered);
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.body, R"({"status":404,"error":"Not Found","message":"there is no \"x\"",)"
                           R"("timestamp":"2025-06-01T12:00:00.123Z","requestId":"id-1"})");
  EXPECT_EQ(retry_after(response), "none");
}

TEST(Errors, body_names_the_field_at_fault) {
  const Error error = invalid_field("eventId", "must not be empty").error();
  const Response response = error_response(error, "r", kAnswered);
  EXPECT_EQ(response.status, 400);
  EXPECT_NE(response.body.find(R"("message":"eventId: must not be empty")"), std::string::npos);
  EXPECT_NE(response.body.find(R"("field":"eventId"})"), std::string::npos);
}

TEST(Errors, retry_after_is_whole_seconds_rounded_up_and_at_least_one) {
  const auto with = [](ErrorKind kind, Millis wait) {
    return retry_after(error_response(Error{.kind = kind, .retry_after = wait}, "r", kAnswered));
  };
  EXPECT_EQ(with(ErrorKind::limited, Millis{1}), "1");
  EXPECT_EQ(with(ErrorKind::limited, Millis{1'000}), "1");
  EXPECT_EQ(with(ErrorKind::limited, Millis{1'001}), "2");
  EXPECT_EQ(with(ErrorKind::exhausted, Seconds{90}), "90");
  EXPECT_EQ(with(ErrorKind::overloaded, Millis::zero()), "1");
  EXPECT_EQ(with(ErrorKind::unavailable, Millis::zero()), "5");
  EXPECT_EQ(with(ErrorKind::corrupt, Millis{0}), "5");
  EXPECT_EQ(with(ErrorKind::conflict, Seconds{9}), "none");
  EXPECT_EQ(retry_after(error_response(429, "m", "r", kAnswered)), "1");
  EXPECT_EQ(retry_after(error_response(503, "m", "r", kAnswered)), "1");
}

}  // namespace
}  // namespace penstock::wire
