#include "engine/redis/url.h"

#include <gtest/gtest.h>

#include "store/redis/store.h"

namespace penstock::store::redis {
namespace {

TEST(RedisUrl, reads_what_people_write) {
  const auto plain = parse_url("redis://cache");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->endpoints, (std::vector<Endpoint>{{"cache", 6379}}));
  EXPECT_FALSE(plain->tls);
  EXPECT_EQ(plain->database, 0);

  const auto all = parse_url("rediss://me:p%40ss%2F@10.0.0.1:7000,[::1]:7001,c/12");
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->tls);
  EXPECT_EQ(all->user, "me");
  EXPECT_EQ(all->password, "p@ss/");
  EXPECT_EQ(all->database, 12);
  EXPECT_EQ(all->endpoints,
            (std::vector<Endpoint>{{"10.0.0.1", 7000}, {"::1", 7001}, {"c", 6379}}));
  EXPECT_EQ(all->endpoints[1].text(), "[::1]:7001");
  EXPECT_EQ(parse_url("redis://:only@h/")->password, "only");
}

TEST(RedisUrl, refuses_the_rest_without_quoting_it) {
  for (const char* bad :
       {"", "redis:/h", "http://h", "redis://", "redis://h:0", "redis://h:65536", "redis://h:x",
        "redis://h/x", "redis://h/-1", "redis://a,,b", "redis://secret%4:x@h", "redis://secret@",
        "redis://u:secret@h:port", "redis://[::1", "redis://[::1]x", "redis://h:1:2"}) {
    const auto parsed = parse_url(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().kind, ErrorKind::invalid);
    EXPECT_EQ(parsed.error().field, "url");
    EXPECT_EQ(parsed.error().what.find("secret"), std::string::npos);
  }
}

TEST(RedisUrl, reads_endpoints_of_redirections) {
  Endpoint endpoint;
  ASSERT_TRUE(parse_endpoint("127.0.0.1:6381", endpoint));
  EXPECT_EQ(endpoint, (Endpoint{"127.0.0.1", 6381}));
  ASSERT_TRUE(parse_endpoint("::1:6381", endpoint));
  EXPECT_EQ(endpoint, (Endpoint{"::1", 6381}));
  ASSERT_TRUE(parse_endpoint(":6381", endpoint));
  EXPECT_EQ(endpoint.host, "");
  for (const char* bad : {"", "h", "h:", "h:0", "h:99999", "a b:1"}) {
    EXPECT_FALSE(parse_endpoint(bad, endpoint)) << bad;
  }
}

TEST(RedisOptions, are_checked_without_a_server) {
  EXPECT_TRUE(check_options({.url = "redis://h"}));
  EXPECT_TRUE(check_options({.url = "redis://a,b", .cluster = true}));
  EXPECT_EQ(check_options({.url = "redis://a,b"}).error().field, "url");
  EXPECT_EQ(check_options({.url = "redis://a/1", .cluster = true}).error().field, "url");
  EXPECT_EQ(check_options({.url = "redis://a", .connections = 0}).error().field, "connections");
  EXPECT_EQ(check_options({.url = "redis://a", .deadline = Millis{0}}).error().field, "deadline");
  for (const char* prefix : {"", "a{b}", "}"}) {
    EXPECT_EQ(check_options({.url = "redis://a", .key_prefix = prefix}).error().field,
              "key-prefix");
  }
}

}  // namespace
}  // namespace penstock::store::redis
