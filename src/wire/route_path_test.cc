#include "wire/route_path.h"

#include <gtest/gtest.h>

namespace penstock::wire {
namespace {

std::string path(std::string_view target) {
  std::string out;
  append_route_path(out, target);
  return out;
}

TEST(RoutePath, is_the_same_for_every_spelling) {
  for (const char* target :
       {"/v1/pay", "/v1/pay?x=1", "/v1/pay#top", "//v1///pay", "/v1/./pay", "/v1/x/../pay",
        "/../v1/pay", "/%76%31/p%61y", "/v1/%2e/pay", "/v1/x/%2E%2e/pay", "v1/pay",
        "https://example.org/v1/pay?x=http://y/z"}) {
    EXPECT_EQ(path(target), "/v1/pay") << target;
  }
}

TEST(RoutePath, keeps_what_means_something_else) {
  EXPECT_EQ(path("/v1/pay/"), "/v1/pay/");
  EXPECT_EQ(path("/V1/Pay"), "/V1/Pay");
  EXPECT_EQ(path("/a%2fb"), "/a%2Fb");
  EXPECT_EQ(path("/a%2Fb"), "/a%2Fb");
  EXPECT_EQ(path("/a/.."), "/");
  EXPECT_EQ(path("/a/b/."), "/a/b/");
  EXPECT_EQ(path(""), "/");
  EXPECT_EQ(path("/"), "/");
  EXPECT_EQ(path("http://example.org"), "/");
  EXPECT_EQ(path("/a:b@c;d=e,f"), "/a:b@c;d=e,f");
}

TEST(RoutePath, encodes_what_no_path_may_hold) {
  EXPECT_EQ(path("/a|b"), "/a%7Cb");
  EXPECT_EQ(path("/a%7cb"), "/a%7Cb");
  EXPECT_EQ(path("/ü"), "/%C3%BC");
  EXPECT_EQ(path("/50%"), "/50%25");
  EXPECT_EQ(path("/%zz"), "/%25zz");
  EXPECT_EQ(path("/a b"), "/a%20b");
}

}  // namespace
}  // namespace penstock::wire
