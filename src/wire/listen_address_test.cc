#include "wire/listen_address.h"

#include <gtest/gtest.h>

namespace penstock::wire {
namespace {

TEST(ParseListen, takes_addresses_with_ports) {
  EXPECT_EQ(parse_listen("127.0.0.1:8080"), (ListenAddress{"127.0.0.1", 8080}));
  EXPECT_EQ(parse_listen("0.0.0.0:0"), (ListenAddress{"0.0.0.0", 0}));
  EXPECT_EQ(parse_listen("[::1]:65535"), (ListenAddress{"::1", 65535}));
  EXPECT_EQ(parse_listen("localhost:80"), (ListenAddress{"127.0.0.1", 80}));
}

TEST(ParseListen, refuses_what_cannot_be_listened_on) {
  for (const char* bad : {"", "8080", ":8080", "*:8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x",
                          "127.0.0.1:65536", "127.0.0.1:-1", "::1:8080", "[127.0.0.1]:80",
                          "example.com:80", "256.0.0.1:80", "[]:80", "[::1]", "::1"}) {
    EXPECT_FALSE(parse_listen(bad).has_value()) << bad;
  }
  EXPECT_EQ(parse_listen(":8080").error().what,
            "must name an IP address; for all of them write 0.0.0.0:8080 or [::]:8080");
}

TEST(ListenAddress, knows_the_loopback_addresses) {
  for (const char* address : {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE((ListenAddress{address, 0}).loopback()) << address;
  }
  for (const char* address : {"0.0.0.0", "10.0.0.1", "::", "::2", "::ffff:10.0.0.1", ""}) {
    EXPECT_FALSE((ListenAddress{address, 0}).loopback()) << address;
  }
}

}  // namespace
}  // namespace penstock::wire
