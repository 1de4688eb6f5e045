#include "engine/postgres/connection.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "engine/postgres/testing/server_process.h"
#include "engine/testing/tcp_proxy.h"
#include "runtime/clocks.h"

namespace penstock::store::postgres {
namespace {

// No server here: a peer that accepts and says nothing, or hangs up at once.
ConnectOptions to(const TcpProxy& peer) {
  return {.url = ServerProcess::url_to(peer.port(), "nothing") + "?sslmode=disable"};
}

TEST(Pool, gives_up_on_a_peer_that_says_nothing_when_the_deadline_passes) {
  TcpProxy peer(/*server_port=*/1);
  peer.set(TcpProxy::Mode::refuse);
  Pool pool(to(peer), {.connections_max = 2, .seed = 1}, nullptr);
  const runtime::Stopwatch watch;
  const auto lease = pool.acquire(runtime::Deadline(Millis{300}));
  ASSERT_FALSE(lease);
  EXPECT_EQ(lease.error().error.kind, ErrorKind::unavailable);
  EXPECT_LT(watch.seconds(), 3.0);
  EXPECT_EQ(pool.open(), 0U);
}

TEST(Pool, knocks_only_once_per_pause_while_the_server_is_away) {
  TcpProxy peer(/*server_port=*/1);
  peer.set(TcpProxy::Mode::refuse);
  Pool pool(to(peer), {.connections_max = 4, .seed = 1}, nullptr);
  const runtime::Stopwatch watch;
  std::vector<std::thread> callers;
  std::atomic<int> failed{0};
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      while (watch.seconds() < 1.0) {
        const auto lease = pool.acquire(runtime::Deadline(Seconds{2}));
        ASSERT_FALSE(lease);
        EXPECT_EQ(lease.error().error.kind, ErrorKind::unavailable);
        ++failed;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_GT(failed, 100);
  EXPECT_LT(peer.accepted(), 20);  // at first, then 50, 100, 200, 400 ms apart
  EXPECT_EQ(pool.open(), 0U);
}

}  // namespace
}  // namespace penstock::store::postgres
