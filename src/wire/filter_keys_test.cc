#include "wire/filter_keys.h"

#include <gtest/gtest.h>

#include "core/policy/throttle_key.h"

namespace penstock::wire {
namespace {

using Keys = std::vector<std::string>;

// 10.0.0.0/8 and ::1 are trusted proxies.
FilterRules trusting(std::vector<KeyRule> rules = FilterRules{}.rules) {
  FilterRules made;
  made.trusted_proxies = {*parse_cidr_block("10.0.0.0/8"), *parse_cidr_block("::1")};
  made.rules = std::move(rules);
  return made;
}

std::string client(const FilterRules& rules, std::string_view peer,
                   std::vector<std::string_view> forwarded = {}) {
  return client_address(rules, {.peer_address = peer, .forwarded_for = std::move(forwarded)});
}

TEST(ClientAddress, of_an_untrusted_peer_is_the_peer_whatever_it_says) {
  EXPECT_EQ(client(trusting(), "203.0.113.9"), "203.0.113.9");
  EXPECT_EQ(client(trusting(), "203.0.113.9", {"1.1.1.1"}), "203.0.113.9");
  EXPECT_EQ(client(trusting(), "203.0.113.9", {"10.0.0.1"}), "203.0.113.9");
  EXPECT_EQ(client({}, "127.0.0.1", {"1.1.1.1"}), "127.0.0.1");  // loopback is not trusted either
}

TEST(ClientAddress, is_the_right_most_hop_that_is_no_trusted_proxy) {
  EXPECT_EQ(client(trusting(), "10.0.0.1", {"203.0.113.9"}), "203.0.113.9");
  EXPECT_EQ(client(trusting(), "10.0.0.1", {"1.1.1.1, 203.0.113.9"}), "203.0.113.9");
  EXPECT_EQ(client(trusting(), "10.0.0.1", {"1.1.1.1,203.0.113.9 , 10.0.0.7"}), "203.0.113.9");
  EXPECT_EQ(client(trusting(), "10.0.0.1", {"1.1.1.1", "203.0.113.9", "10.0.0.7"}), "203.0.113.9");
  EXPECT_EQ(client(trusting(), "::1", {"203.0.113.9:4711"}), "203.0.113.9");
  EXPECT_EQ(client(trusting(), "10.0.0.1", {"10.0.0.3, 10.0.0.2"}), "10.0.0.3");
  EXPECT_EQ(client(trusting(), "10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(client(trusting(), "10.0.0.1", {", ,"}), "10.0.0.1");
}

TEST(ClientAddress, does_not_look_behind_a_hop_that_is_no_address) {
  EXPECT_EQ(client(trusting(), "10.0.0.1", {"1.1.1.1, unknown"}), "10.0.0.1");
  EXPECT_EQ(client(trusting(), "10.0.0.1", {"1.1.1.1, unknown, 10.0.0.5"}), "10.0.0.5");
}

TEST(ClientAddress, of_ipv6_is_its_network) {
  EXPECT_EQ(client({}, "2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(client({}, "2001:DB8:1:2::9"), "2001:db8:1:2::/64");
  EXPECT_EQ(client(trusting(), "10.0.0.1", {"[2001:db8:1:2::9]:443"}), "2001:db8:1:2::/64");
  EXPECT_EQ(client({}, "::ffff:192.0.2.1"), "192.0.2.1");
  FilterRules exact;
  exact.ipv6_prefix_bits = 128;
  EXPECT_EQ(client(exact, "2001:db8:1:2:3:4:5:6"), "2001:db8:1:2:3:4:5:6");
}

TEST(FilterKeys, are_the_address_and_the_api_key_by_default) {
  EXPECT_EQ(filter_keys({}, {.peer_address = "203.0.113.9"}), Keys{"ip:203.0.113.9"});
  EXPECT_EQ(filter_keys({}, {.peer_address = "203.0.113.9", .api_key = "abc"}),
            (Keys{"ip:203.0.113.9", "apiKey:abc"}));
}

TEST(FilterKeys, compose_parts_in_one_order) {
  const FilterFacts facts{.peer_address = "10.0.0.1", .user = "123", .uri = "/v1//pay?amount=5"};
  for (const KeyRule& rule :
       {KeyRule{KeyPart::user, KeyPart::route}, KeyRule{KeyPart::route, KeyPart::user}}) {
    EXPECT_EQ(filter_keys(trusting({rule}), facts), Keys{"user:123|route:/v1/pay"});
  }
}

TEST(FilterKeys, leave_out_a_rule_that_lacks_a_part_but_never_all) {
  const FilterRules rules = trusting({{KeyPart::user, KeyPart::route}, {KeyPart::ip}});
  EXPECT_EQ(filter_keys(rules, {.peer_address = "10.0.0.1", .uri = "/x"}), Keys{"ip:10.0.0.1"});
  EXPECT_EQ(filter_keys(trusting({{KeyPart::user}}), {.peer_address = "10.0.0.1"}),
            Keys{"ip:10.0.0.1"});
}

TEST(FilterKeys, believe_headers_about_the_request_only_from_trusted_peers) {
  const FilterRules rules =
      trusting({{KeyPart::ip}, {KeyPart::user}, {KeyPart::ip, KeyPart::route}});
  const FilterFacts spoofed{
      .peer_address = "203.0.113.9", .forwarded_for = {"1.1.1.1"}, .user = "root", .uri = "/a"};
  EXPECT_EQ(filter_keys(rules, spoofed), Keys{"ip:203.0.113.9"});
}

TEST(FilterKeys, take_what_the_server_itself_knows_before_what_a_proxy_says) {
  const FilterRules rules = trusting({{KeyPart::user, KeyPart::route}});
  FilterFacts facts{.peer_address = "203.0.113.9",
                    .user = "root",
                    .uri = "/a",
                    .own_user = "123",
                    .own_target = "/v1/pay?x=1"};
  EXPECT_EQ(filter_keys(rules, facts), Keys{"user:123|route:/v1/pay"});
  facts.peer_address = "10.0.0.1";
  EXPECT_EQ(filter_keys(rules, facts), Keys{"user:123|route:/v1/pay"});
}

TEST(FilterKeys, cannot_be_forged_by_a_value) {
  const auto key = [](std::string_view value) {
    return filter_keys({}, {.peer_address = "203.0.113.9", .api_key = value}).back();
  };
  EXPECT_EQ(key("a|user:root"), "apiKey:a%7cuser:root");
  EXPECT_NE(key("a|b"), key("a%7cb"));
  EXPECT_EQ(key("\xff\x01"), "apiKey:%ff%01");
  EXPECT_EQ(key("ü"), "apiKey:ü");
  const std::string long_value(2'000, 'x');
  EXPECT_EQ(key(long_value).size(), core::kThrottleKeyBytesMax);
  EXPECT_NE(key(long_value), key(long_value + "y"));
  std::string wide;
  for (int i = 0; i < 500; ++i) wide += "ü";
  for (const std::string& value : {long_value, wide, "x" + wide}) {
    EXPECT_EQ(core::throttle_key_problem(key(value)), "");
  }
}

TEST(FilterKeys, stand_once_each) {
  const FilterRules rules = trusting({{KeyPart::ip}, {KeyPart::ip}});
  EXPECT_EQ(filter_keys(rules, {.peer_address = "203.0.113.9"}), Keys{"ip:203.0.113.9"});
}

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
