#include "front/http/server/tokens.h"

#include <gtest/gtest.h>

namespace penstock::front {
namespace {

TEST(TokenGate, is_open_when_no_tokens_are_set) {
  const TokenGate gate(HttpTokens{});
  for (const Access access : {Access::open, Access::api, Access::admin}) {
    EXPECT_TRUE(gate.opens(access, ""));
    EXPECT_TRUE(gate.opens(access, "Bearer whatever"));
  }
}

TEST(TokenGate, each_token_opens_what_it_is_for) {
  const TokenGate gate({.admin = "admin-secret", .api = "api-secret"});
  EXPECT_TRUE(gate.opens(Access::open, ""));
  EXPECT_FALSE(gate.opens(Access::api, ""));
  EXPECT_FALSE(gate.opens(Access::admin, ""));
  EXPECT_TRUE(gate.opens(Access::api, "Bearer api-secret"));
  EXPECT_TRUE(gate.opens(Access::api, "Bearer admin-secret"));
  EXPECT_TRUE(gate.opens(Access::admin, "Bearer admin-secret"));
  EXPECT_FALSE(gate.opens(Access::admin, "Bearer api-secret"));
}

TEST(TokenGate, admin_token_alone_leaves_the_api_open) {
  const TokenGate gate({.admin = "admin-secret"});
  EXPECT_TRUE(gate.opens(Access::api, ""));
  EXPECT_FALSE(gate.opens(Access::admin, ""));
}

TEST(TokenGate, api_token_alone_leaves_admin_open) {
  const TokenGate gate({.api = "api-secret"});
  EXPECT_FALSE(gate.opens(Access::api, ""));
  EXPECT_TRUE(gate.opens(Access::admin, ""));
}

TEST(TokenGate, open_routes_can_be_guarded_too) {
  const TokenGate gate({.admin = "a", .api = "b", .open_routes_need_token = true});
  EXPECT_FALSE(gate.opens(Access::open, ""));
  EXPECT_TRUE(gate.opens(Access::open, "Bearer a"));
  EXPECT_TRUE(gate.opens(Access::open, "Bearer b"));
  // Asked for but not there: shut, not open.
  EXPECT_FALSE(TokenGate({.open_routes_need_token = true}).opens(Access::open, "Bearer "));
}

TEST(TokenGate, compares_the_whole_token) {
  const TokenGate gate({.admin = "secret"});
  for (const char* value :
       {"Bearer", "Bearer ", "Bearer secre", "Bearer secrets", "Bearer Secret", "Basic secret",
        "secret", "Bearersecret", "Bearer secret ", "Bearer x secret"}) {
    EXPECT_FALSE(gate.opens(Access::admin, value)) << value;
  }
  const std::string with_nul("Bearer secret\0", 14);
  EXPECT_FALSE(gate.opens(Access::admin, with_nul));
  EXPECT_TRUE(gate.opens(Access::admin, "bearer secret"));
  EXPECT_TRUE(gate.opens(Access::admin, "BEARER   secret"));
}

TEST(TokenGate, handles_tokens_of_any_length) {
  const std::string longest(kTokenBytesMax, 'x');
  const TokenGate gate({.admin = longest});
  EXPECT_TRUE(gate.opens(Access::admin, "Bearer " + longest));
  EXPECT_FALSE(gate.opens(Access::admin, "Bearer " + longest + "x"));
  EXPECT_FALSE(gate.opens(Access::admin, "Bearer " + longest.substr(1)));
}

}  // namespace
}  // namespace penstock::front
