#include "daemon/config/throttle_values.h"

#include <gtest/gtest.h>

namespace penstock::daemon {
namespace {

using wire::KeyPart;
using wire::KeyRule;

TEST(AddressBlocks, are_a_list_of_addresses_and_networks) {
  ASSERT_TRUE(parse_address_blocks(""));
  EXPECT_TRUE(parse_address_blocks("")->empty());
  const auto blocks = parse_address_blocks("10.0.0.0/8, ::1,192.0.2.1");
  ASSERT_TRUE(blocks);
  ASSERT_EQ(blocks->size(), 3U);
  EXPECT_EQ((*blocks)[0].bits, 104U);
  EXPECT_EQ((*blocks)[1].bits, 128U);
  for (const char* bad : {",", "10.0.0.0/8,", "proxy", "10.0.0.1/8", "10.0.0.0/8;::1"}) {
    EXPECT_FALSE(parse_address_blocks(bad)) << bad;
  }
}

TEST(KeyRules, are_lists_of_known_words) {
  EXPECT_EQ(parse_key_rules("ip"), (std::vector<KeyRule>{{KeyPart::ip}}));
  EXPECT_EQ(
      parse_key_rules("ip, api-key,user+route"),
      (std::vector<KeyRule>{{KeyPart::ip}, {KeyPart::api_key}, {KeyPart::user, KeyPart::route}}));
  for (const char* bad : {"", ",", "ip,", "ip+", "ip+ip", "cookie", "IP", "apiKey",
                          "ip,ip,ip,ip,ip,ip,ip,ip,ip,ip,ip,ip,ip,ip,ip,ip,ip"}) {
    EXPECT_FALSE(parse_key_rules(bad)) << bad;
  }
}

TEST(HeaderName, is_a_token) {
  EXPECT_TRUE(is_header_name("X-User-Id"));
  for (const char* bad : {"", "X User", "X-User:", "ü"}) EXPECT_FALSE(is_header_name(bad)) << bad;
}

}  // namespace
}  // namespace penstock::daemon
