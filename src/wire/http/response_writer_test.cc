#include "wire/http/response_writer.h"

#include <gtest/gtest.h>

#include <set>

#include "wire/http/request_id.h"

namespace penstock::wire {
namespace {

const std::string kNotKept = "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n";

std::string write(const Response& response, ResponseLine line = {}) {
  line.date_line = "Date: D\r\n";
  line.request_id = "id";
  std::string out = "before|";
  append_response(out, response, line);
  return out.substr(7);
}

TEST(ResponseWriter, writes_head_and_body) {
  EXPECT_EQ(write({.status = 200, .body = "{}"}),
            "HTTP/1.1 200 OK\r\nDate: D\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
            "X-Request-Id: id\r\n" +
                kNotKept + "\r\n{}");
  EXPECT_EQ(write({.status = 404, .body = "x", .content_type = "text/plain"}),
            "HTTP/1.1 404 Not Found\r\nDate: D\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n"
            "X-Request-Id: id\r\n" +
                kNotKept + "\r\nx");
  EXPECT_EQ(write({.status = 200, .content_type = "application/x-ndjson"}),
            "HTTP/1.1 200 OK\r\nDate: D\r\nContent-Type: application/x-ndjson\r\n"
            "Content-Length: 0\r\nX-Request-Id: id\r\n" +
                kNotKept + "\r\n")
      << "no lines are an answer, too";
}

TEST(ResponseWriter, no_content_has_no_length) {
  EXPECT_EQ(write({.status = 204, .body = "ignored"}),
            "HTTP/1.1 204 No Content\r\nDate: D\r\nX-Request-Id: id\r\n" + kNotKept + "\r\n");
  EXPECT_EQ(write({.status = 200}),
            "HTTP/1.1 200 OK\r\nDate: D\r\nContent-Length: 0\r\nX-Request-Id: id\r\n" + kNotKept +
                "\r\n");
}

TEST(ResponseWriter, head_has_the_length_but_not_the_body) {
  const std::string out = write({.status = 200, .body = "four"}, {.head_only = true});
  EXPECT_NE(out.find("Content-Length: 4\r\n"), out.npos);
  EXPECT_TRUE(out.ends_with("\r\n\r\n"));
}

TEST(ResponseWriter, says_what_happens_to_the_connection) {
  const auto has = [](const ResponseLine& line, const char* text) {
    return write({.status = 200}, line).find(text) != std::string::npos;
  };
  EXPECT_FALSE(has({}, "Connection"));
  EXPECT_TRUE(has({.keep_alive = false}, "Connection: close\r\n"));
  EXPECT_TRUE(has({.http11 = false}, "Connection: keep-alive\r\n"));
  EXPECT_TRUE(has({.http11 = false, .keep_alive = false}, "Connection: close\r\n"));
}

TEST(ResponseWriter, header_values_cannot_forge_headers) {
  const std::string out =
      write({.status = 200, .headers = {{"Link", "a\r\nSet-Cookie: x\r\n\r\nb"}}});
  EXPECT_NE(out.find("Link: a  Set-Cookie: x    b\r\n"), out.npos);
}

TEST(DateLine, changes_once_a_second) {
  DateLine date;
  EXPECT_EQ(date.at(from_epoch_millis(784'111'777'999)), "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
  EXPECT_EQ(date.at(from_epoch_millis(784'111'778'000)), "Date: Sun, 06 Nov 1994 08:49:38 GMT\r\n");
  EXPECT_EQ(date.at(from_epoch_millis(0)), "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n");
  EXPECT_EQ(date.at(from_epoch_millis(1'709'164'800'000)),
            "Date: Thu, 29 Feb 2024 00:00:00 GMT\r\n");
}

TEST(RequestId, takes_what_can_stand_anywhere) {
  EXPECT_TRUE(is_request_id("a"));
  EXPECT_TRUE(is_request_id(std::string(64, '~')));
  EXPECT_FALSE(is_request_id(""));
  EXPECT_FALSE(is_request_id(std::string(65, 'a')));
  EXPECT_FALSE(is_request_id("a\tb"));
  EXPECT_FALSE(is_request_id("\xc3\xa4"));
  EXPECT_FALSE(is_request_id("a\x7f"));
}

TEST(RequestId, made_ones_are_short_and_differ) {
  RequestIds one(42, 0);
  RequestIds two(42, 1);
  std::set<std::string> seen;
  std::string id;
  for (int i = 0; i < 10'000; ++i) {
    for (RequestIds* ids : {&one, &two}) {
      ids->make(id);
      EXPECT_EQ(id.size(), 13U);
      EXPECT_TRUE(seen.insert(id).second);
    }
  }
}

TEST(ResponseWriter, writes_whole_header_lines_as_they_are) {
  std::string out;
  append_response(out, {.status = 204, .headers = {{"A", "1"}}, .header_lines = "B: 2\r\nC: 3\r\n"},
                  {.date_line = "Date: now\r\n", .request_id = "r"});
  EXPECT_NE(out.find("A: 1\r\nB: 2\r\nC: 3\r\n"), std::string::npos) << out;
}

TEST(ResponseWriter, leaves_caching_to_those_who_see_to_it) {
  std::string out;
  append_response(out, {.header_lines = "Cache-Control: no-cache\r\n", .sets_caching = true},
                  {.date_line = "", .request_id = "r"});
  EXPECT_EQ(out.find("no-store"), std::string::npos) << out;
  EXPECT_EQ(out.find("nosniff"), std::string::npos) << out;
}

}  // namespace
}  // namespace penstock::wire
