#include "engine/sql/connection_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

#include "runtime/clocks.h"

namespace penstock::store {
namespace {

// What the engine is like now.
struct Engine {
  std::atomic<bool> answers{true};  // false: a handshake goes on until its limit
  std::atomic<int> room{100};       // connections it takes; more are refused
  std::atomic<int> handshakes{0};
};

class FakeConnection {
 public:
  using Options = Engine*;
  static constexpr std::string_view kEngine = "fake";

  static DatabaseResult<std::unique_ptr<FakeConnection>> open(Engine* engine,
                                                              const runtime::Deadline& deadline) {
    ++engine->handshakes;
    while (!engine->answers && !deadline.passed()) std::this_thread::yield();
    if (!engine->answers || engine->room <= 0) {
      return std::unexpected(DatabaseError{{.kind = ErrorKind::unavailable, .what = "refused"}});
    }
    --engine->room;
    return std::make_unique<FakeConnection>();
  }

  bool broken() const { return broken_; }
  bool still_open() const { return !broken_; }
  void break_it() { broken_ = true; }

 private:
  bool broken_ = false;
};

using Pool = ConnectionPool<FakeConnection>;
constexpr Millis kShort{50};
constexpr Millis kLong = Seconds{20};

TEST(ConnectionPool, lends_a_connection_to_one_caller_at_a_time) {
  Engine engine;
  Pool pool(&engine, {.connections_max = 1}, nullptr);
  auto lease = std::optional(pool.acquire(runtime::Deadline(kLong)));
  ASSERT_TRUE(*lease);
  const auto second = pool.acquire(runtime::Deadline(kShort));
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().error.what.find("busy"), std::string::npos);
  lease.reset();
  EXPECT_TRUE(pool.acquire(runtime::Deadline(kLong)));
  EXPECT_EQ(engine.handshakes, 1);
}

TEST(ConnectionPool, a_handshake_longer_than_a_call_serves_the_calls_behind_it) {
  Engine engine;
  engine.answers = false;
  Pool pool(&engine, {.connections_max = 2, .connect_limit = kLong}, nullptr);
  const runtime::Stopwatch watch;
  const auto hasty = pool.acquire(runtime::Deadline(kShort));
  EXPECT_LT(watch.seconds(), 5.0);
  ASSERT_FALSE(hasty);
  EXPECT_EQ(hasty.error().error.kind, ErrorKind::unavailable);
  engine.answers = true;
  EXPECT_TRUE(pool.acquire(runtime::Deadline(kLong)));
  EXPECT_EQ(engine.handshakes, 1);
}

TEST(ConnectionPool, fails_at_once_while_the_engine_is_away_and_finds_it_again_by_itself) {
  Engine engine;
  engine.room = 0;
  Pool pool(&engine, {.connections_max = 2}, nullptr);
  EXPECT_EQ(pool.acquire(runtime::Deadline(kLong)).error().error.what, "refused");
  const runtime::Stopwatch watch;
  for (int i = 0; i < 1'000; ++i) EXPECT_FALSE(pool.acquire(runtime::Deadline(kLong)));
  EXPECT_LT(watch.seconds(), 5.0);
  engine.room = 1;
  while (engine.room == 1) ASSERT_LT(watch.seconds(), 30);  // nobody asks meanwhile
  // The pool has it now or in a moment.
  while (!pool.acquire(runtime::Deadline(kLong))) ASSERT_LT(watch.seconds(), 30);
}

TEST(ConnectionPool, an_engine_without_room_for_one_more_still_serves_the_others) {
  Engine engine;
  engine.room = 1;
  Pool pool(&engine, {.connections_max = 4}, nullptr);
  auto lease = std::optional(pool.acquire(runtime::Deadline(kLong)));
  ASSERT_TRUE(*lease);
  EXPECT_FALSE(pool.acquire(runtime::Deadline(kShort)));  // the attempt to open another one fails
  std::atomic<bool> served = false;
  std::thread waiting([&] { served = pool.acquire(runtime::Deadline(kLong)).has_value(); });
  lease.reset();
  waiting.join();
  EXPECT_TRUE(served);
}

TEST(ConnectionPool, opens_a_new_one_for_a_broken_one) {
  Engine engine;
  Pool pool(&engine, {.connections_max = 1}, nullptr);
  for (int i = 0; i < 3; ++i) {
    auto lease = pool.acquire(runtime::Deadline(kLong));
    ASSERT_TRUE(lease);
    (*lease)->break_it();
  }
  EXPECT_EQ(engine.handshakes, 3);
  EXPECT_EQ(pool.reconnects(), 3U);
  EXPECT_EQ(pool.open(), 0U);
}

TEST(ConnectionPool, does_not_lend_what_is_not_admitted) {
  Engine engine;
  std::atomic<bool> good = false;
  Pool pool(
      &engine,
      {.connections_max = 1,
       .admit = [&](FakeConnection&, const runtime::Deadline&) -> DatabaseResult<void> {
         if (good) return {};
         return std::unexpected(DatabaseError{{.kind = ErrorKind::conflict, .what = "old schema"}});
       }},
      nullptr);
  EXPECT_EQ(pool.acquire(runtime::Deadline(kLong)).error().error.kind, ErrorKind::conflict);
  good = true;
  const runtime::Stopwatch watch;
  while (!pool.acquire(runtime::Deadline(kLong))) ASSERT_LT(watch.seconds(), 30);
}

}  // namespace
}  // namespace penstock::store
