#include "engine/redis/errors.h"

#include <gtest/gtest.h>

#include "engine/redis/script.h"

namespace penstock::store::redis {
namespace {

TEST(RedisErrors, say_what_to_do_next) {
  const auto action = [](const char* text) { return translate(text).action; };
  EXPECT_EQ(action("NOSCRIPT No matching script. Please use EVAL."), Action::load_script);
  EXPECT_EQ(action("TRYAGAIN Multiple keys request during rehashing of slot"), Action::wait);
  EXPECT_EQ(action("LOADING Redis is loading the dataset in memory"), Action::wait);
  EXPECT_EQ(action("CLUSTERDOWN The cluster is down"), Action::refresh);
  EXPECT_EQ(action("READONLY You can't write against a read only replica."), Action::refresh);
  EXPECT_EQ(action("WRONGTYPE Operation against a key"), Action::fail);
  EXPECT_EQ(action("ERR unknown command"), Action::fail);
  EXPECT_EQ(action(""), Action::fail);
}

TEST(RedisErrors, follow_redirections) {
  const ServerError moved = translate("MOVED 3999 127.0.0.1:6381");
  EXPECT_EQ(moved.action, Action::move);
  EXPECT_EQ(moved.slot, 3999);
  EXPECT_EQ(moved.endpoint, (Endpoint{"127.0.0.1", 6381}));
  const ServerError ask = translate("ASK 16383 :6381");
  EXPECT_EQ(ask.action, Action::ask);
  EXPECT_EQ(ask.slot, 16383);
  EXPECT_EQ(ask.endpoint.host, "") << "the node that answered";
  for (const char* bad : {"MOVED", "MOVED 1", "MOVED x h:1", "MOVED 16384 h:1", "MOVED 1 h",
                          "ASK 1 h:0", "MOVED -1 h:1"}) {
    EXPECT_EQ(translate(bad).action, Action::fail) << bad;
  }
}

TEST(RedisErrors, have_the_kind_a_caller_needs) {
  const auto kind = [](const char* text) { return translate(text).error.kind; };
  EXPECT_EQ(kind("OOM command not allowed when used memory > 'maxmemory'."), ErrorKind::overloaded);
  EXPECT_EQ(kind("BUSY Redis is busy running a script."), ErrorKind::overloaded);
  EXPECT_EQ(kind("WRONGTYPE Operation against a key"), ErrorKind::corrupt);
  EXPECT_EQ(kind("NOAUTH Authentication required."), ErrorKind::unavailable);
  EXPECT_EQ(kind("ERR whatever"), ErrorKind::unavailable);
  const std::string long_text = "ERR " + std::string(5'000, 'x') + "\r\n";
  EXPECT_LT(translate(long_text).error.what.size(), 300U);
  EXPECT_EQ(translate("ERR a\nb").error.what, "redis: ERR a b");
}

TEST(RedisErrors, tell_apart_what_may_have_been_executed) {
  const Endpoint node{"h", 1};
  EXPECT_FALSE(cannot_reach(node, "x").error().sent);
  EXPECT_TRUE(connection_lost(node, "x").error().sent);
  EXPECT_TRUE(no_answer(node).error().sent);
  EXPECT_EQ(no_answer(node).error().error.kind, ErrorKind::timeout);
}

TEST(RedisScripts, are_known_by_their_digest) {
  for (const LuaFile& file : embedded_scripts()) {
    EXPECT_EQ(script(file.name).digest.size(), 40U);
    EXPECT_TRUE(std::string_view(file.text).starts_with("-- Caller: ")) << file.name;
  }
  EXPECT_NE(script("limits").digest, script("limits_swap").digest);
}

}  // namespace
}  // namespace penstock::store::redis
