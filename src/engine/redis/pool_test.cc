#include "engine/redis/pool.h"

#include <gtest/gtest.h>

#include "engine/testing/tcp_proxy.h"
#include "runtime/clocks.h"

namespace penstock::store::redis {
namespace {

TEST(RedisPool, leaves_a_node_alone_that_was_found_away) {
  TcpProxy peer(/*server_port=*/1);
  const Endpoint endpoint{"127.0.0.1", peer.port()};
  // A server that says nothing: greeting it takes until the deadline.
  peer.set(TcpProxy::Mode::silent);
  const auto pool =
      std::make_shared<Pool>(ConnectOptions{.password = "secret"}, endpoint, 2, 1, nullptr);
  const auto first = pool->acquire(runtime::Deadline(Millis{30}));
  ASSERT_FALSE(first);
  EXPECT_FALSE(first.error().sent);
  const auto second = pool->acquire(runtime::Deadline(Seconds{30}));
  ASSERT_FALSE(second) << "at once";
  EXPECT_GE(second.error().error.retry_after, runtime::Backoff::kFirst);
  EXPECT_EQ(pool->open(), 0U);
  EXPECT_EQ(second.error().error.what.find("secret"), std::string::npos);
}

TEST(RedisPool, lends_no_more_connections_than_it_may) {
  TcpProxy peer(/*server_port=*/1);
  peer.set(TcpProxy::Mode::silent);
  const Endpoint endpoint{"127.0.0.1", peer.port()};
  const auto pool = std::make_shared<Pool>(ConnectOptions{}, endpoint, 1, 1, nullptr);
  {
    const auto lease = pool->acquire(runtime::Deadline(Seconds{10}));
    ASSERT_TRUE(lease) << lease.error().error.what;
    const auto none = pool->acquire(runtime::Deadline(Millis{30}));
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().error.kind, ErrorKind::unavailable);
  }
  EXPECT_EQ(pool->open(), 1U) << "kept for the next";
}

TEST(RedisConnection, a_name_that_does_not_exist_is_an_error_in_time) {
  const runtime::Stopwatch watch;
  const auto connection =
      Connection::open({}, {"no-such-host.invalid", 1}, runtime::Deadline(Millis{200}));
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().error.kind, ErrorKind::unavailable);
  EXPECT_LT(watch.seconds(), 5);
}

}  // namespace
}  // namespace penstock::store::redis
