#include "wire/ip_address.h"

#include <gtest/gtest.h>

namespace penstock::wire {
namespace {

std::string canonical(std::string_view text) {
  const auto address = parse_ip_address(text);
  if (!address) return "none";
  std::string out;
  append_ip_address(out, *address);
  return out;
}

TEST(IpAddress, has_one_spelling) {
  EXPECT_EQ(canonical("192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(canonical("::ffff:192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(canonical("2001:DB8:0:0:0:0:0:1"), "2001:db8::1");
  EXPECT_EQ(canonical("[2001:db8::1]"), "2001:db8::1");
  EXPECT_EQ(canonical("::1"), "::1");
}

TEST(IpAddress, refuses_all_else) {
  for (const char* text :
       {"", "unknown", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.256", "1.2.3.4:80", "[1.2.3.4]",
        ":::", "fe80::1%eth0", "2001:db8::1::2", "[::1]:80", "[]",
        "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb"}) {
    EXPECT_EQ(canonical(text), "none") << text;
  }
}

TEST(CidrBlock, contains_its_addresses_in_either_spelling) {
  const auto block = parse_cidr_block("10.0.0.0/8");
  ASSERT_TRUE(block);
  EXPECT_TRUE(block->contains(*parse_ip_address("10.255.1.2")));
  EXPECT_TRUE(block->contains(*parse_ip_address("::ffff:10.0.0.1")));
  EXPECT_FALSE(block->contains(*parse_ip_address("11.0.0.0")));
  EXPECT_FALSE(block->contains(*parse_ip_address("a00::1")));
  const auto v6 = parse_cidr_block("2001:db8:8000::/33");
  ASSERT_TRUE(v6);
  EXPECT_TRUE(v6->contains(*parse_ip_address("2001:db8:ffff::1")));
  EXPECT_FALSE(v6->contains(*parse_ip_address("2001:db8:7fff::1")));
  EXPECT_TRUE(parse_cidr_block("192.0.2.7")->contains(*parse_ip_address("192.0.2.7")));
  EXPECT_FALSE(parse_cidr_block("192.0.2.7")->contains(*parse_ip_address("192.0.2.6")));
  EXPECT_TRUE(parse_cidr_block("0.0.0.0/0")->contains(*parse_ip_address("203.0.113.9")));
  EXPECT_FALSE(parse_cidr_block("0.0.0.0/0")->contains(*parse_ip_address("2001:db8::1")));
}

TEST(CidrBlock, refuses_what_it_cannot_mean) {
  for (const char* text : {"", "10.0.0.0/", "10.0.0.0/33", "10.0.0.1/8", "2001:db8::1/32", "::/129",
                           "10.0.0.0/-1", "10.0.0.0/8 ", "proxy/8", "/8"}) {
    EXPECT_FALSE(parse_cidr_block(text)) << text;
  }
}

}  // namespace
}  // namespace penstock::wire
