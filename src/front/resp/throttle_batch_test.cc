#include "front/resp/throttle_batch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "front/resp/connection.h"
#include "front/resp/session.h"
#include "front/resp/testing/limits.h"

namespace penstock::front {
namespace {

constexpr std::size_t kSessions = 5;

// Sessions of one thread. Their connections are names only.
class Round {
 public:
  explicit Round(std::size_t sessions) : sent(sessions) {
    for (std::size_t i = 0; i < sessions; ++i) {
      sessions_.push_back(std::make_unique<RespSession>(state_, i, wire::IpAddress{}));
    }
  }
  ~Round() { ::close(log_fd_); }

  // As a connection does with what it received.
  void take(std::size_t session, std::string_view in) {
    const RespSession::Turn turn = sessions_[session]->handle(in, batch_, out_);
    EXPECT_EQ(turn.consumed, in.size());
    if (turn.open) {
      EXPECT_EQ(turn.from, out_.size());
      return batch_.leave(connection(session));
    }
    replies_.push_back({.connection = &connection(session), .from = turn.from, .end = out_.size()});
  }

  // The end of a round.
  void send_all() {
    batch_.settle(out_);
    for (const RespReply& reply : replies_) {
      const auto session = static_cast<std::size_t>(reply.connection - &connection(0));
      sent[session] += std::string_view(out_).substr(reply.from, reply.end - reply.from);
    }
    replies_.clear();
    out_.clear();
  }

  CoreLimits limits;
  std::vector<std::string> sent;  // to each session

 private:
  // Never looked into.
  RespConnection& connection(std::size_t session) {
    return *reinterpret_cast<RespConnection*>(names_.data() + session * sizeof(RespConnection));
  }

  int log_fd_ = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  Log log_{limits.clock, log_fd_, LogLevel::off, LogFormat::text};
  runtime::Metrics metrics_;
  Guesses guesses_{log_, metrics_};
  runtime::MemoryBudget memory_{std::size_t{256} << 20, metrics_};
  CoreThrottle throttle_{limits, log_, metrics_};
  RespState state_{RespOptions{}, *throttle_, log_, metrics_, guesses_, memory_};
  std::vector<RespReply> replies_;
  ThrottleBatch batch_{state_, replies_};
  std::string out_;
  std::vector<std::unique_ptr<RespSession>> sessions_;
  alignas(RespConnection) std::array<char, kSessions * sizeof(RespConnection)> names_{};
};

std::string call(std::string_view key) { return "CL.THROTTLE " + std::string(key) + " 4 1 60\r\n"; }

constexpr std::string_view kFirst = "*5\r\n:0\r\n:5\r\n:4\r\n:-1\r\n:60\r\n";
constexpr std::string_view kSecond = "*5\r\n:0\r\n:5\r\n:3\r\n:-1\r\n:120\r\n";

TEST(ThrottleBatch, decides_what_several_connections_left_at_once) {
  Round round(3);
  round.take(0, call("a"));
  round.take(1, call("a") + call("b"));
  round.take(2, call("c"));
  EXPECT_TRUE(round.limits.batches.empty());
  round.send_all();
  EXPECT_EQ(round.limits.batches, std::vector<std::size_t>{4});
  EXPECT_EQ(round.sent[0], kFirst);
  EXPECT_EQ(round.sent[1], std::string(kSecond) + std::string(kFirst));
  EXPECT_EQ(round.sent[2], kFirst);
}

TEST(ThrottleBatch, does_not_let_a_connection_wait_that_has_more_to_say) {
  Round round(2);
  round.take(0, call("a"));
  round.take(1, call("a") + "PING\r\n" + call("b"));
  EXPECT_EQ(round.limits.batches, (std::vector<std::size_t>{2, 1}));
  round.send_all();
  EXPECT_EQ(round.sent[0], kFirst);
  EXPECT_EQ(round.sent[1], std::string(kSecond) + "+PONG\r\n" + std::string(kFirst));
}

TEST(ThrottleBatch, goes_when_it_is_full) {
  Round round(2);
  std::string many;
  for (int i = 0; i < 60; ++i) many += call("a" + std::to_string(i));
  round.take(0, many);
  round.take(1, many);
  EXPECT_EQ(round.limits.batches, (std::vector<std::size_t>{64, 56}));
  round.send_all();
  EXPECT_EQ(round.sent[0].size(), 60 * kFirst.size());
  EXPECT_EQ(round.sent[1].size(), 60 * kSecond.size());
}

TEST(ThrottleBatch, tells_every_connection_that_the_store_is_away) {
  Round round(2);
  round.limits.away = true;
  round.take(0, call("a"));
  round.take(1, call("b"));
  round.send_all();
  EXPECT_EQ(round.sent[0], "-ERR the store is away\r\n");
  EXPECT_EQ(round.sent[1], "-ERR the store is away\r\n");
}

// Whatever they say and however it is cut into rounds, each is told what it would be told alone.
TEST(ThrottleBatch, tells_each_connection_what_it_would_be_told_alone) {
  std::mt19937 random(20261118);  // NOLINT(cert-msc51-cpp): the same every time
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  for (int example = 0; example < 300; ++example) {
    Round together(kSessions);
    std::array<std::string, kSessions> said;
    for (int turn = below(20); turn >= 0; --turn) {
      std::array<std::size_t, kSessions> order{0, 1, 2, 3, 4};
      std::ranges::shuffle(order, random);
      for (int ready = below(kSessions); ready >= 0; --ready) {
        const std::size_t session = order[static_cast<std::size_t>(ready)];
        std::string in;
        for (int calls = below(30); calls >= 0; --calls) {
          switch (below(12)) {
            case 0:
              in += "PING\r\n";
              break;
            case 1:
              in += "CL.THROTTLE k many\r\n";
              break;
            default:
              in += call(std::to_string(session) + "-" + std::to_string(below(4)));
          }
        }
        together.take(session, in);
        said[session] += in;
      }
      together.send_all();
    }
    for (std::size_t i = 0; i < kSessions; ++i) {
      Round alone(1);
      alone.take(0, said[i]);
      alone.send_all();
      ASSERT_EQ(together.sent[i], alone.sent[0]) << "session " << i << " of example " << example;
    }
  }
}

}  // namespace
}  // namespace penstock::front
