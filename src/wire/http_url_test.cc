#include "wire/http_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace penstock::wire {
namespace {

std::string problem(std::string_view text) {
  const Result<HttpUrl> url = parse_http_url(text);
  return url ? "accepted" : url.error().what;
}

TEST(HttpUrl, is_taken_apart) {
  const std::pair<std::string_view, HttpUrl> good[] = {
      {"http://example.com", {false, "example.com", 80, "/"}},
      {"https://example.com/", {true, "example.com", 443, "/"}},
      {"https://Pay.Example.com:8443/v1/hook?a=b&c=%20d",
       {true, "pay.example.com", 8443, "/v1/hook?a=b&c=%20d"}},
      {"http://example.com?x=/y", {false, "example.com", 80, "/?x=/y"}},
      {"http://my_service:1", {false, "my_service", 1, "/"}},
      {"http://10.0.0.1:65535/a@b:c", {false, "10.0.0.1", 65535, "/a@b:c"}},
      {"http://[2001:DB8::1]:81/x", {false, "2001:db8::1", 81, "/x"}},
      {"https://[::1]", {true, "::1", 443, "/"}},
      {"http://example.com./", {false, "example.com.", 80, "/"}},
      {"http://1a.2b/", {false, "1a.2b", 80, "/"}},
  };
  for (const auto& [text, expected] : good) {
    const Result<HttpUrl> url = parse_http_url(text);
    ASSERT_TRUE(url) << text << " " << url.error().what;
    EXPECT_EQ(*url, expected) << text;
  }
}

TEST(HttpUrl, names_its_host_as_the_header_wants_it) {
  EXPECT_EQ(parse_http_url("http://a:80/")->authority(), "a");
  EXPECT_EQ(parse_http_url("https://a:80/")->authority(), "a:80");
  EXPECT_EQ(parse_http_url("https://[::1]:443")->authority(), "[::1]");
  EXPECT_EQ(parse_http_url("https://[::1]:1")->authority(), "[::1]:1");
}

TEST(HttpUrl, refuses_the_rest_and_says_why) {
  const std::pair<std::string_view, std::string_view> bad[] = {
      {"", "http://"},
      {"ftp://a", "http://"},
      {"HTTP://a", "http://"},
      {"http:/a", "http://"},
      {"http://", "host"},
      {"http:///path", "host"},
      {"http://a b", "ASCII"},
      {"http://a/\r\nX: y", "ASCII"},
      {"http://a/\x7f", "ASCII"},
      {"http://\xc3\xa4", "ASCII"},
      {"http://a/#b", "fragment"},
      {"http://user:pass@a/", "password"},
      {"http://user@a/", "password"},
      {"http://a:/", "port"},
      {"http://a:0", "port"},
      {"http://a:65536", "port"},
      {"http://a:+1", "port"},
      {"http://a:1x", "port"},
      {"http://a..b", "host"},
      {"http://-a", "host"},
      {"http://a-.b", "host"},
      {"http://a\\b", "host"},
      {"http://.", "host"},
      {"http://127.1", "host"},
      {"http://2130706433", "host"},
      {"http://0x7f000001", "host"},
      {"http://0x7f.0.0.0X1", "host"},
      {"http://1.2.3.256", "host"},
      {"http://01.2.3.4", "host"},
      {"http://[::1", "host"},
      {"http://[::1]x", "host"},
      {"http://::1", "host"},
      {"http://[fe80::1%25eth0]/", "host"},
      {"http://[::ffff:127.0.0.1]/", "host"},
      {"http://[::ffff:7f00:1]/", "host"},
      {"http://[::33:441]/", "host"},
      {"http://[1.2.3.4]/", "host"},
  };
  for (const auto& [text, why] : bad) {
    EXPECT_THAT(problem(text), testing::HasSubstr(why)) << text;
    EXPECT_THAT(problem(text), testing::StartsWith("must ")) << text;
  }
  EXPECT_EQ(problem("http://a/" + std::string(kHttpUrlBytesMax - 9, 'x')), "accepted");
  EXPECT_THAT(problem("http://a/" + std::string(kHttpUrlBytesMax - 8, 'x')),
              testing::HasSubstr("2000"));
  EXPECT_EQ(problem("http://" + std::string(63, 'a')), "accepted");
  EXPECT_THAT(problem("http://" + std::string(64, 'a')), testing::HasSubstr("host"));
}

TEST(WebhookSecret, is_base64_behind_its_prefix_and_text_without) {
  EXPECT_EQ(parse_webhook_secret("whsec_MDEyMzQ1Njc4OWFiY2RlZg=="), "0123456789abcdef");
  EXPECT_EQ(parse_webhook_secret("MDEyMzQ1Njc4OWFiY2RlZg=="), "MDEyMzQ1Njc4OWFiY2RlZg==");
  EXPECT_FALSE(parse_webhook_secret("whsec_MDEyMzQ1Njc4OWFiY2RlZg"));
  EXPECT_FALSE(parse_webhook_secret("whsec_MDEyMzQ1Njc4OWFiY2Rl"));
  EXPECT_FALSE(parse_webhook_secret("whsec_"));
}

}  // namespace
}  // namespace penstock::wire
