#include "wire/http/request_head.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock::wire {
namespace {

struct Parsed {
  std::optional<Refusal> refusal;
  Request request;
  Framing framing;
};

// Scans and parses a whole head. The text must outlive what is returned.
Parsed parse(std::string_view head) {
  Parsed parsed;
  HeadScanner scanner;
  if (scanner.scan(head, {}) != HeadScanner::Status::complete) {
    parsed.refusal = scanner.refusal();
    return parsed;
  }
  parsed.refusal = parse_head(head.substr(0, scanner.head_size()), parsed.request, parsed.framing);
  return parsed;
}

int status_of_head(std::string_view head) {
  const Parsed parsed = parse(head);
  return parsed.refusal ? parsed.refusal->status : 0;
}

std::string with_headers(std::string_view headers) {
  return "POST /x HTTP/1.1\r\nHost: h\r\n" + std::string(headers) + "\r\n";
}

TEST(RequestHead, gives_method_path_query_and_headers) {
  const auto parsed = parse("PATCH /a/b%20c?x=1&y HTTP/1.1\r\nHost: h:80\r\nX-A:  v w \r\n\r\n");
  ASSERT_FALSE(parsed.refusal);
  EXPECT_EQ(parsed.request.method, Method::patch);
  EXPECT_EQ(parsed.request.target, "/a/b%20c?x=1&y");
  EXPECT_EQ(parsed.request.path, "/a/b%20c");
  EXPECT_EQ(parsed.request.query, "x=1&y");
  EXPECT_EQ(parsed.request.header("x-a"), "v w");
  EXPECT_TRUE(parsed.framing.keep_alive);
  EXPECT_FALSE(parsed.framing.has_body());
}

TEST(RequestHead, knows_the_methods) {
  const auto method = [](std::string name) {
    return parse(name + " / HTTP/1.1\r\nHost: h\r\n\r\n").request.method;
  };
  EXPECT_EQ(method("GET"), Method::get);
  EXPECT_EQ(method("HEAD"), Method::head);
  EXPECT_EQ(method("DELETE"), Method::del);
  EXPECT_EQ(method("OPTIONS"), Method::options);
  EXPECT_EQ(method("TRACE"), Method::other);
  EXPECT_EQ(method("get"), Method::other);
  EXPECT_EQ(method("BREW"), Method::other);
}

TEST(RequestHead, keep_alive_follows_version_and_connection) {
  const auto keeps = [](std::string rest) { return parse("GET / " + rest).framing.keep_alive; };
  EXPECT_TRUE(keeps("HTTP/1.1\r\nHost: h\r\n\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.1\r\nHost: h\r\nConnection: x, Close\r\n\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(keeps("HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"));
}

TEST(RequestHead, reads_the_framing) {
  EXPECT_EQ(parse(with_headers("Content-Length: 12\r\n")).framing.content_length, 12U);
  EXPECT_TRUE(parse(with_headers("Transfer-Encoding: Chunked\r\n")).framing.chunked);
  EXPECT_TRUE(parse(with_headers("Expect: 100-Continue\r\n")).framing.expects_continue);
  EXPECT_FALSE(parse("GET / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n").framing.expects_continue);
}

TEST(RequestHead, refuses_framings_that_could_smuggle) {
  for (const std::string_view headers :
       {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Content-Length: 5\r\nTransfer-Encoding: identity\r\n",
        "Transfer-Encoding: identity\r\nContent-Length: 5\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: 5\r\nContent-Length: 5\r\n",
        "Content-Length: 5, 5\r\n",
        "Content-Length: 5,6\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: -5\r\n",
        "Content-Length: 0x5\r\n",
        "Content-Length: 5 5\r\n",
        "Content-Length: \r\n",
        "Content-Length: 18446744073709551616\r\n",
        "Content-Length : 5\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked, chunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding:\x0b"
        "chunked\r\n",
        "Transfer-Encoding: \"chunked\"\r\n",
        "Transfer-Encoding:\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding\r\n: chunked\r\n",
        "X: a\r\n Transfer-Encoding: chunked\r\n",
        "X:\r\n\tfolded\r\n",
        " X: at the start\r\n"}) {
    EXPECT_EQ(status_of_head(with_headers(headers)), 400) << headers;
  }
  EXPECT_EQ(status_of_head("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
}

TEST(RequestHead, refuses_malformed_lines) {
  using namespace std::string_literals;
  for (const std::string& head : {
           "GET / HTTP/1.1\nHost: h\r\n\r\n"s,
           "GET / HTTP/1.1\r\nHost: h\n\r\n"s,
           "GET / HTTP/1.1\r\nHost: h\r\n\n"s,
           "GET / HTTP/1.1\r\nHost: h\r\nA\r\n\r\n"s,
           "GET / HTTP/1.1\r\nHost: h\r\n: v\r\n\r\n"s,
           "GET / HTTP/1.1\r\nHost: h\r\nA b: v\r\n\r\n"s,
           "GET / HTTP/1.1\r\nHost: h\r\nA: v\0w\r\n\r\n"s,
           "GET / HTTP/1.1\r\nHost: h\r\nA\0: v\r\n\r\n"s,
           "GET / HTTP/1.1\r\nHost: h\r\nA: v\rw\r\n\r\n"s,
           "GET / HTTP/1.1\r\nHost: h\r\nA: \x7f\r\n\r\n"s,
           "GET /\0 HTTP/1.1\r\nHost: h\r\n\r\n"s,
           "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n"s,
           "GET  / HTTP/1.1\r\nHost: h\r\n\r\n"s,
           "GET / HTTP/1.1 \r\nHost: h\r\n\r\n"s,
           "GET / HTTP/1.2\r\nHost: h\r\n\r\n"s,
           "GET / HTTP/2.0\r\nHost: h\r\n\r\n"s,
           "GET / HTTP/0.9\r\nHost: h\r\n\r\n"s,
           "GET / http/1.1\r\nHost: h\r\n\r\n"s,
           "GET /\r\nHost: h\r\n\r\n"s,
           "GET\r\nHost: h\r\n\r\n"s,
           "G@T / HTTP/1.1\r\nHost: h\r\n\r\n"s,
           "\x16\x03\x01\x02"s,
           "PRI * HTTP/2.0\r\n\r\n"s,
       }) {
    EXPECT_EQ(status_of_head(head), 400) << head;
  }
}

TEST(RequestHead, host_is_needed_once_in_http_1_1) {
  EXPECT_EQ(status_of_head("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(status_of_head("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(status_of_head("GET / HTTP/1.1\r\nHost: a b\r\n\r\n"), 400);
  EXPECT_EQ(status_of_head("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"), 400);
  EXPECT_EQ(status_of_head("GET / HTTP/1.1\r\nHost:\r\n\r\n"), 0);
  EXPECT_EQ(status_of_head("GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n"), 0);
  EXPECT_EQ(status_of_head("GET / HTTP/1.0\r\n\r\n"), 0);
}

TEST(RequestHead, takes_absolute_targets_and_only_paths_otherwise) {
  const auto path = [](std::string target) {
    const std::string head = "GET " + target + " HTTP/1.1\r\nHost: h\r\n\r\n";
    const auto parsed = parse(head);
    if (parsed.refusal) return std::to_string(parsed.refusal->status);
    return std::string(parsed.request.path) + "|" + std::string(parsed.request.query);
  };
  EXPECT_EQ(path("http://h/a?b"), "/a|b");
  EXPECT_EQ(path("HTTPS://h:1/a"), "/a|");
  EXPECT_EQ(path("http://h"), "/|");
  EXPECT_EQ(path("http://h?q=1"), "/|q=1");
  EXPECT_EQ(path("/a?b?c"), "/a|b?c");
  EXPECT_EQ(path("*"), "400");
  EXPECT_EQ(path("h:443"), "400");
  EXPECT_EQ(path("a/b"), "400");
  EXPECT_EQ(path("ftp://h/a"), "400");
  EXPECT_EQ(path("http:///a"), "400");
  EXPECT_EQ(path("http://"), "400");
  EXPECT_EQ(path("http://h#f"), "400");
  EXPECT_EQ(path("/a#f"), "400");
}

TEST(RequestHead, unknown_expectation_is_417) {
  EXPECT_EQ(status_of_head(with_headers("Expect: 200-ok\r\n")), 417);
}

TEST(HeadScanner, limits_line_and_head) {
  const HeadLimits limits{.line_bytes = 20, .head_bytes = 40};
  const auto status = [&](std::string_view bytes) {
    HeadScanner scanner;
    const auto result = scanner.scan(bytes, limits);
    return result == HeadScanner::Status::refused ? scanner.refusal().status
                                                  : static_cast<int>(result);
  };
  const std::string line = "GET /345 HTTP/1.1\r\n";
  EXPECT_EQ(status("GET /3456 HTTP/1.1\r\n"), 0);     // exactly 20
  EXPECT_EQ(status("GET /34567 HTTP/1.1\r\n"), 414);  // 21
  EXPECT_EQ(status(std::string(19, 'A')), 0);
  EXPECT_EQ(status(std::string(20, 'A')), 414);
  EXPECT_EQ(status(line + "A: 34567890123456\r\n"), 0);
  EXPECT_EQ(status(line + "A: 3456789012345678\r\n"), 431);  // no room for the blank line
  EXPECT_EQ(status(line + "A: 34567890123456\r\n\r\n"), 1);
  EXPECT_EQ(status(line + "A: 345678901234567\r\n\r\n"), 431);
  EXPECT_EQ(status(line + std::string(30, 'A')), 431);
}

TEST(HeadScanner, judges_garbage_without_waiting_for_more) {
  HeadScanner scanner;
  EXPECT_EQ(scanner.scan("GARBAGE", {}), HeadScanner::Status::need_more);
  EXPECT_EQ(scanner.scan("GARBAGE\r\n", {}), HeadScanner::Status::refused);
  EXPECT_EQ(HeadScanner().scan("\x16\x03", {}), HeadScanner::Status::refused);
}

}  // namespace
}  // namespace penstock::wire
