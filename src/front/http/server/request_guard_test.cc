#include "front/http/server/request_guard.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace penstock::front {
namespace {

struct Call {
  Method method = Method::get;
  std::vector<std::pair<std::string_view, std::string_view>> headers;
  GuardFacts facts;
};

int status_of(const RequestGuard& guard, const Call& call) {
  Request request;
  request.method = call.method;
  request.headers = call.headers;
  const auto refusal = guard.judge(request, call.facts);
  return refusal ? refusal->status : 0;
}

const GuardRules kRules{.allowed_hosts = {"Penstock.example.com", "proxy.example.com:8443"},
                        .allowed_origins = {"https://admin.example.com"}};

TEST(RequestGuard, judges_the_host_where_no_token_guards) {
  const RequestGuard guard("192.0.2.7", false, kRules);
  const struct {
    std::string_view host;
    int status;
  } table[] = {
      {"localhost", 0},
      {"LOCALHOST:8080", 0},
      {"a.b.localhost:1", 0},
      {"127.0.0.1", 0},
      {"127.200.3.4:65535", 0},
      {"[::1]", 0},
      {"[::1]:8080", 0},
      {"[::ffff:127.0.0.1]:8080", 0},
      {"192.0.2.7", 0},
      {"192.0.2.7:8080", 0},
      {"penstock.example.com", 0},
      {"PENSTOCK.EXAMPLE.COM:9", 0},
      {"proxy.example.com:8443", 0},
      {"proxy.example.com", 421},
      {"proxy.example.com:8444", 421},
      {"evil.example", 421},
      {"evil.example:8080", 421},
      {"localhost.evil.example", 421},
      {"evillocalhost", 421},
      {".localhost", 421},
      {"127.0.0.1.evil.example", 421},
      {"127.0.0.1:8080:8080", 421},
      {"localhost:", 421},
      {"localhost:80x", 421},
      {"[::1", 421},
      {"[::1]x", 421},
      {"::1", 421},
      {"192.0.2.8", 421},
      {"0.0.0.0", 421},
      {"", 421},
  };
  for (const auto& [host, status] : table) {
    EXPECT_EQ(status_of(guard, {.headers = {{"HOST", host}}, .facts = {}}), status) << host;
    EXPECT_EQ(status_of(guard, {.headers = {{"Host", host}}, .facts = {.guarded = true}}), 0);
    EXPECT_EQ(status_of(guard, {.headers = {{"Host", host}}, .facts = {.speaks_for_others = true}}),
              0);
  }
  EXPECT_EQ(status_of(guard, {}), 0);  // HTTP/1.0
}

TEST(RequestGuard, takes_the_address_of_the_connection_where_it_listens_on_all) {
  for (const char* all : {"0.0.0.0", "::"}) {
    const RequestGuard guard(all, false, {});
    ASSERT_TRUE(guard.needs_local_address());
    const auto status = [&](std::string_view host, std::string_view local) {
      return status_of(guard, {.headers = {{"Host", host}}, .facts = {.local_address = local}});
    };
    EXPECT_EQ(status("10.1.2.3:8080", "10.1.2.3"), 0);
    EXPECT_EQ(status("10.1.2.3:8080", "::ffff:10.1.2.3"), 0);
    EXPECT_EQ(status("[2001:db8::1]:8080", "2001:db8::1"), 0);
    EXPECT_EQ(status("10.1.2.4:8080", "10.1.2.3"), 421);
    EXPECT_EQ(status("penstock:8080", "10.1.2.3"), 421);
  }
  EXPECT_FALSE(RequestGuard("127.0.0.1", false, {}).needs_local_address());
}

TEST(RequestGuard, lets_health_and_metrics_be_asked_by_any_name_when_they_were_opened) {
  const RequestGuard guard("0.0.0.0", false, {.open_routes_by_any_name = true});
  const auto status = [&](Access access) {
    return status_of(guard, {.headers = {{"Host", "penstock:8080"}}, .facts = {.access = access}});
  };
  EXPECT_EQ(status(Access::open), 0);
  EXPECT_EQ(status(Access::api), 421);
  EXPECT_EQ(status(Access::everyone), 421);
}

TEST(RequestGuard, lets_no_other_sites_page_change_anything) {
  const RequestGuard guard("127.0.0.1", false, kRules);
  const struct {
    std::string_view host;
    std::string_view origin;
    int status;
  } table[] = {
      {"localhost:8080", "http://localhost:8080", 0},
      {"127.0.0.1:8080", "http://127.0.0.1:8080", 0},
      {"localhost:8080", "https://localhost:8080", 0},  // behind a proxy that adds TLS
      {"localhost:80", "http://localhost", 0},
      {"localhost:443", "https://localhost", 0},
      {"localhost:443", "http://localhost", 403},
      {"localhost:8080", "http://localhost:8081", 403},
      {"localhost:8080", "http://127.0.0.1:8080", 403},
      {"localhost:8080", "http://evil.example", 403},
      {"localhost:8080", "null", 403},
      {"localhost:8080", "", 403},
      {"localhost:8080", "http://", 403},
      {"localhost:8080", "ftp://localhost:8080", 403},
      {"localhost:8080", "https://admin.example.com", 0},
      {"localhost:8080", "http://admin.example.com", 403},
      {"localhost:8080", "https://admin.example.com.evil.example", 403},
      {"evil.example:8080", "http://evil.example:8080", 421},
  };
  for (const auto& [host, origin, status] : table) {
    Call call{.headers = {{"Host", host}, {"Origin", origin}}, .facts = {}};
    for (const Method method :
         {Method::post, Method::put, Method::patch, Method::del, Method::other}) {
      call.method = method;
      EXPECT_EQ(status_of(guard, call), status) << host << ' ' << origin;
    }
    call.method = Method::get;
    EXPECT_EQ(status_of(guard, call), status == 421 ? 421 : 0) << host << ' ' << origin;
    call.method = Method::post;
    call.facts.speaks_for_others = true;
    EXPECT_EQ(status_of(guard, call), 0);
  }
  // With a token too; there, a daemon behind a proxy is known by the proxy's name.
  const auto guarded = [&](std::string_view origin) {
    return status_of(guard, {.method = Method::post,
                             .headers = {{"Host", "p.example"}, {"Origin", origin}},
                             .facts = {.guarded = true}});
  };
  EXPECT_EQ(guarded("https://p.example"), 0);
  EXPECT_EQ(guarded("https://evil.example"), 403);
}

TEST(RequestGuard, believes_what_the_browser_says_about_the_site) {
  const RequestGuard guard("127.0.0.1", false, kRules);
  const auto status = [&](auto... more) {
    return status_of(
        guard, {.method = Method::post, .headers = {{"Host", "localhost"}, more...}, .facts = {}});
  };
  using Pair = std::pair<std::string_view, std::string_view>;
  EXPECT_EQ(status(Pair{"Sec-Fetch-Site", "cross-site"}), 403);
  EXPECT_EQ(status(Pair{"sec-fetch-site", "Cross-Site"}), 403);
  EXPECT_EQ(status(Pair{"Sec-Fetch-Site", "same-origin"}), 0);
  EXPECT_EQ(status(Pair{"Sec-Fetch-Site", "none"}), 0);
  EXPECT_EQ(
      status(Pair{"Sec-Fetch-Site", "cross-site"}, Pair{"Origin", "https://admin.example.com"}), 0);
  EXPECT_EQ(status(Pair{"Origin", "http://localhost"}, Pair{"Origin", "http://evil.example"}), 403);
  EXPECT_EQ(status(Pair{"Origin", "http://evil.example"}, Pair{"Origin", "http://localhost"}), 403);
}

TEST(RequestGuard, does_not_take_a_page_without_TLS_for_its_own_when_it_has_TLS) {
  const RequestGuard guard("127.0.0.1", true, {});
  const auto status = [&](std::string_view origin) {
    return status_of(guard, {.method = Method::post,
                             .headers = {{"Host", "localhost"}, {"Origin", origin}},
                             .facts = {}});
  };
  EXPECT_EQ(status("https://localhost"), 0);
  EXPECT_EQ(status("http://localhost"), 403);
}

TEST(RequestGuard, wants_a_body_to_be_named) {
  const RequestGuard guard("127.0.0.1", false, {});
  Call call{.method = Method::post, .headers = {{"Host", "localhost"}}, .facts = {}};
  EXPECT_EQ(status_of(guard, call), 0);
  call.facts.has_body = true;
  EXPECT_EQ(status_of(guard, call), 415);
  call.facts.speaks_for_others = true;
  EXPECT_EQ(status_of(guard, call), 0);
  call.facts.speaks_for_others = false;
  call.headers.emplace_back("content-type", "");
  EXPECT_EQ(status_of(guard, call), 415);
  call.headers.back().second = "text/plain";
  EXPECT_EQ(status_of(guard, call), 0);
}

TEST(RequestGuard, asks_for_the_token_before_the_type_and_after_the_page) {
  const RequestGuard guard("127.0.0.1", false, {});
  Call call{.method = Method::post,
            .headers = {{"Host", "evil.example"}},
            .facts = {.guarded = true, .opened = false, .has_body = true}};
  EXPECT_EQ(status_of(guard, call), 401);
  call.headers.emplace_back("Origin", "http://other.example");
  EXPECT_EQ(status_of(guard, call), 403);
  call.facts.speaks_for_others = true;
  EXPECT_EQ(status_of(guard, call), 401);
}

TEST(Hosts, are_names_and_addresses) {
  for (const char* good : {"a", "a.b-c.example", "192.0.2.1", "a:1", "[::1]", "[::1]:65535"}) {
    EXPECT_TRUE(is_host(good)) << good;
  }
  for (const char* bad :
       {"", ":1", "a:", "a:0", "a:65536", "a b", "a/b", "http://a", "::1", "[x]"}) {
    EXPECT_FALSE(is_host(bad)) << bad;
  }
  EXPECT_TRUE(is_origin("https://a:1"));
  for (const char* bad : {"a", "https://", "https://a/", "ftp://a", "null", "https://a b"}) {
    EXPECT_FALSE(is_origin(bad)) << bad;
  }
}

}  // namespace
}  // namespace penstock::front
