#include "engine/http/url.h"

#include <gtest/gtest.h>

namespace penstock::http {
namespace {

TEST(ParseUrl, takes_the_usual_forms) {
  EXPECT_EQ(parse_url("http://127.0.0.1:8080"), (Url{false, "127.0.0.1", 8080, ""}));
  EXPECT_EQ(parse_url("http://localhost"), (Url{false, "localhost", 80, ""}));
  EXPECT_EQ(parse_url("https://penstock.example.com/"),
            (Url{true, "penstock.example.com", 443, ""}));
  EXPECT_EQ(parse_url("https://h:8443/team/a/"), (Url{true, "h", 8443, "/team/a"}));
  EXPECT_EQ(parse_url("http://[::1]:8080"), (Url{false, "::1", 8080, ""}));
  EXPECT_EQ(parse_url("http://[::1]"), (Url{false, "::1", 80, ""}));
}

TEST(ParseUrl, refuses_everything_else) {
  for (const char* bad :
       {"", "127.0.0.1:8080", "ftp://h", "http://", "http://:80", "http://h:", "http://h:0",
        "http://h:65536", "http://h:80x", "http://user@h", "http://h/?a=b", "http://h/#x",
        "http://h h", "http://h/a b", "http://[]", "http://::1", "HTTP://h", "http://h\r\nX: y"}) {
    EXPECT_FALSE(parse_url(bad).has_value()) << bad;
  }
}

TEST(Url, gives_the_host_header) {
  EXPECT_EQ((Url{false, "h", 80, ""}).authority(), "h");
  EXPECT_EQ((Url{false, "h", 443, ""}).authority(), "h:443");
  EXPECT_EQ((Url{true, "h", 443, ""}).authority(), "h");
  EXPECT_EQ((Url{false, "::1", 8080, ""}).authority(), "[::1]:8080");
}

TEST(PercentEncoded, leaves_only_unreserved_characters) {
  EXPECT_EQ(percent_encoded("order-1_a.b~"), "order-1_a.b~");
  EXPECT_EQ(percent_encoded("a/b?c&d=e%"), "a%2Fb%3Fc%26d%3De%25");
  EXPECT_EQ(percent_encoded("\xc3\xa9 "), "%C3%A9%20");
}

}  // namespace
}  // namespace penstock::http
