#include <penstock/filter.h>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace penstock {
namespace {

Limiter limiter_of(std::int64_t capacity) {
  const auto fixed = [] { return std::chrono::microseconds{1'750'000'000'000'000}; };
  return *Limiter::make(
      {.default_policy = {.capacity = capacity, .refill = refill_every(std::chrono::seconds{2}, 1)},
       .clock = fixed});
}

std::string header(const FilterDecision& decision, std::string_view name) {
  for (const HeaderField& field : decision.headers) {
    if (field.name == name) return field.value;
  }
  return "absent";
}

TEST(Filter, passes_and_then_denies_with_headers) {
  const Limiter limiter = limiter_of(1);
  const Filter filter = *Filter::make(limiter);
  const RequestView request{.peer_address = "192.0.2.1", .method = "GET", .target = "/"};
  const FilterDecision passed = filter.check(request);
  EXPECT_TRUE(passed.allowed);
  EXPECT_EQ(passed.status, 0);
  EXPECT_EQ(header(passed, "X-RateLimit-Limit"), "1");
  EXPECT_EQ(header(passed, "X-RateLimit-Remaining"), "0");
  EXPECT_EQ(header(passed, "Retry-After"), "absent");
  const FilterDecision denied = filter.check(request);
  EXPECT_FALSE(denied.allowed);
  EXPECT_EQ(denied.status, 429);
  EXPECT_EQ(denied.key, "ip:192.0.2.1");
  EXPECT_EQ(denied.message, "Rate limit exceeded for key: ip:192.0.2.1");
  EXPECT_EQ(denied.retry_after, std::chrono::seconds{2});
  EXPECT_EQ(header(denied, "Retry-After"), "2");
  EXPECT_EQ(header(denied, "RateLimit"), "\"default\";r=0;t=2");
  EXPECT_EQ(header(denied, "RateLimit-Policy"), "\"default\";q=1;w=2");
}

TEST(Filter, answers_403_where_asked_to_and_lets_free_methods_pass) {
  const Limiter limiter = limiter_of(1);
  const Filter filter = *Filter::make(limiter, {.denied_status = 403, .free_methods = {"OPTIONS"}});
  EXPECT_TRUE(filter.check({.peer_address = "192.0.2.1"}).allowed);
  EXPECT_EQ(filter.check({.peer_address = "192.0.2.1"}).status, 403);
  EXPECT_TRUE(filter.check({.peer_address = "192.0.2.1", .method = "OPTIONS"}).allowed);
}

TEST(Filter, believes_a_forwarded_address_only_from_a_trusted_proxy) {
  const Limiter limiter = limiter_of(1);
  const Filter filter = *Filter::make(limiter, {.trusted_proxies = {"10.0.0.0/8"}});
  const auto from = [&](std::string_view peer, std::string_view forwarded) {
    const std::array headers = {HeaderView{"x-forwarded-for", forwarded}};
    return filter.check({.peer_address = peer, .headers = headers}).key;
  };
  EXPECT_EQ(from("203.0.113.9", "1.1.1.1"), "ip:203.0.113.9");
  EXPECT_EQ(from("10.0.0.1", "6.6.6.6, 1.1.1.1, 10.2.2.2"), "ip:1.1.1.1");
}

TEST(Filter, makes_keys_of_what_the_server_knows) {
  const Limiter limiter = limiter_of(5);
  const Filter filter = *Filter::make(limiter, {.rules = {{KeyPart::route, KeyPart::user}}});
  const RequestView request{.peer_address = "192.0.2.1", .target = "/v1/%70ay?x=1", .user = "123"};
  EXPECT_EQ(filter.check(request).key, "user:123|route:/v1/pay");
  EXPECT_EQ(filter.check({.peer_address = "192.0.2.1", .target = "/"}).key, "ip:192.0.2.1")
      << "a rule with a part that is missing is no way around the limits";
  const std::array spoofed = {HeaderView{"X-User-Id", "root"}};
  EXPECT_EQ(filter.check({.peer_address = "192.0.2.1", .target = "/", .headers = spoofed}).key,
            "ip:192.0.2.1");
}

TEST(Filter, asks_a_look_up_for_headers) {
  const Limiter limiter = limiter_of(2);
  const Filter filter = *Filter::make(limiter);
  const HeaderLookup lookup = [](std::string_view name, std::vector<std::string_view>& values) {
    if (name == "X-API-Key") values.push_back("secret");
  };
  const auto ask = [&](std::string_view peer) {
    return filter.check({.peer_address = peer, .find_header = lookup});
  };
  EXPECT_TRUE(ask("192.0.2.1").allowed);
  EXPECT_TRUE(ask("192.0.2.2").allowed);
  const FilterDecision denied = ask("192.0.2.3");
  EXPECT_EQ(denied.key, "apiKey:secret");
  EXPECT_EQ(limiter.peek("ip:192.0.2.3").remaining, 2) << "all or none";
}

TEST(Filter, names_the_option_at_fault) {
  const Limiter limiter = limiter_of(1);
  const auto field = [&](const FilterOptions& options) {
    return Filter::make(limiter, options).error().field;
  };
  EXPECT_EQ(field({.rules = {{}}}), "rules");
  EXPECT_EQ(field({.rules = std::vector(17, std::vector{KeyPart::route})}), "rules");
  EXPECT_EQ(field({.trusted_proxies = {"localhost"}}), "trusted_proxies");
  EXPECT_EQ(field({.user_header = ""}), "user_header");
  EXPECT_EQ(field({.ipv6_prefix_bits = 0}), "ipv6_prefix_bits");
  EXPECT_EQ(field({.denied_status = 200}), "denied_status");
}

TEST(Filter, fails_closed_on_a_cost_out_of_range) {
  const Limiter limiter = limiter_of(1);
  const Filter filter = *Filter::make(limiter);
  EXPECT_FALSE(filter.check({.peer_address = "192.0.2.1"}, -1).allowed);
  EXPECT_TRUE(filter.check({.peer_address = "192.0.2.1"}, 0).allowed);
}

TEST(Filter, outlives_its_limiter_and_serves_eight_threads) {
  std::optional<Filter> filter;
  {
    Limiter limiter = limiter_of(100);
    const Limiter moved = std::move(limiter);
    filter.emplace(*Filter::make(moved));
  }
  std::atomic<int> allowed = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) allowed += filter->check({.peer_address = "::1"}).allowed;
      });
    }
  }
  EXPECT_EQ(allowed, 100);
}

}  // namespace
}  // namespace penstock
