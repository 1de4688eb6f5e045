#include "tool/bench/requests.h"

#include <gtest/gtest.h>

#include <set>

#include "wire/json.h"
#include "wire/resp_request.h"

namespace penstock::tool::bench {
namespace {

using Field = RequestTemplate::Field;

const http::Url kUrl{.tls = false, .host = "127.0.0.1", .port = 8080, .base_path = "/base"};

HttpForm slots_form() {
  return {
      .target = "/one",
      .batch_target = "/many",
      .good_entry = "\"scheduledTime\":",
      .entry = {
          .before = "{\"eventId\":" + json_text_open("a\"b-"), .field = Field::id, .after = "\"}"}};
}

std::string next(RequestMaker& maker) {
  std::string out;
  maker.append_to(out);
  return out;
}

std::string body_of(const std::string& request) {
  const std::size_t end = request.find("\r\n\r\n");
  const std::string head = request.substr(0, end + 2);
  std::string body = request.substr(end + 4);
  EXPECT_NE(head.find("\r\nContent-Length: " + std::to_string(body.size()) + "\r\n"),
            std::string::npos)
      << head;
  return body;
}

TEST(Requests, a_single_one_is_an_object_to_its_own_route) {
  const RequestTemplate form = http_requests(slots_form(), 1, kUrl, "secret");
  RequestMaker maker(form, 1, 7, 0);
  const std::string request = next(maker);
  EXPECT_TRUE(
      request.starts_with("POST /base/one HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n"
                          "Authorization: Bearer secret\r\n"));
  const std::string body = body_of(request);
  const auto document = wire::parse_json(body);
  ASSERT_TRUE(document) << body;
  EXPECT_TRUE(document->root().find("eventId").string().starts_with("a\"b-"));
  EXPECT_EQ(form.entries, 1U);
}

TEST(Requests, a_batch_is_an_array_to_the_other_route) {
  const RequestTemplate form = http_requests(slots_form(), 3, kUrl, "");
  RequestMaker maker(form, 1, 7, 0);
  const std::string request = next(maker);
  EXPECT_TRUE(request.starts_with("POST /base/many HTTP/1.1\r\n"));
  EXPECT_EQ(request.find("Authorization"), std::string::npos);
  const std::string body = body_of(request);
  const auto document = wire::parse_json(body);
  ASSERT_TRUE(document) << body;
  EXPECT_EQ(document->root().size(), 3U);
  EXPECT_EQ(form.entries, 3U);
}

TEST(Requests, no_id_comes_twice_whatever_the_thread) {
  const RequestTemplate form = http_requests(slots_form(), 5, kUrl, "");
  std::set<std::string> ids;
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    RequestMaker maker(form, 1, 7, thread);
    for (int i = 0; i < 200; ++i) {
      const std::string request = next(maker);
      for (const auto& place : form.places) {
        ids.insert(request.substr(place.at, RequestTemplate::kIdDigits));
      }
    }
  }
  EXPECT_EQ(ids.size(), 4U * 200 * 5);
}

TEST(Requests, keys_are_drawn_from_as_many_as_wanted) {
  const RequestTemplate form = resp_requests({.key = "k:", .numbers = {"15", "30", "60", "1"}});
  RequestMaker maker(form, 10, 1, 0);
  std::set<std::string> keys;
  for (int i = 0; i < 500; ++i) {
    const std::string request = next(maker);
    wire::RespRequestParser parser;
    ASSERT_EQ(parser.parse(request, {}), wire::RespRequestParser::Status::request);
    ASSERT_EQ(parser.consumed(), request.size());
    ASSERT_EQ(parser.arguments().size(), 6U);
    EXPECT_EQ(parser.arguments()[0], "CL.THROTTLE");
    EXPECT_EQ(parser.arguments()[5], "1");
    keys.insert(std::string(parser.arguments()[1]));
  }
  EXPECT_EQ(keys.size(), 10U);
  EXPECT_EQ(*keys.begin(), "k:000000000000");
  EXPECT_EQ(*keys.rbegin(), "k:000000000009");
}

TEST(Requests, one_named_key_stays_as_it_is) {
  const RequestTemplate form =
      resp_requests({.key = "user:7", .has_field = false, .numbers = {"1", "1", "1", "1"}});
  RequestMaker maker(form, 1, 1, 0);
  EXPECT_NE(next(maker).find("$6\r\nuser:7\r\n"), std::string::npos);
}

}  // namespace
}  // namespace penstock::tool::bench
