// For tests of a session: one client's bytes in, the replies out, on a clock that the test sets.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "front/resp/session.h"
#include "front/resp/testing/limits.h"

namespace penstock::front {

class RespSessionTest : public testing::Test {
 protected:
  RespSessionTest() { open(""); }
  ~RespSessionTest() override { ::close(log_fd_); }

  void open(std::string password) {
    throttle_.reset();
    metrics_ = std::make_unique<runtime::Metrics>();
    throttle_.emplace(limits_, log_, *metrics_);
    guesses_ = std::make_unique<Guesses>(log_, *metrics_);
    memory_ = std::make_unique<runtime::MemoryBudget>(std::size_t{256} << 20, *metrics_);
    RespOptions options;
    options.password = std::move(password);
    state_ =
        std::make_unique<RespState>(options, **throttle_, log_, *metrics_, *guesses_, *memory_);
    batch_ = std::make_unique<ThrottleBatch>(*state_, replies_);
    session_ = std::make_unique<RespSession>(*state_, 7, wire::IpAddress{});
    held_.clear();
    closed_ = false;
  }

  // Everything that is answered to `bytes`; what is not consumed is kept for the next call.
  std::string send(std::string_view bytes) {
    held_ += bytes;
    std::string all;
    for (bool more = true; more && !closed_;) {
      std::string out;
      const RespSession::Turn turn = session_->handle(held_, *batch_, out);
      if (turn.open) batch_->settle(out);
      held_.erase(0, turn.consumed);
      all += out;
      closed_ = turn.close;
      more = turn.full;
    }
    return all;
  }

  // "0 16 15 -1 2", or the reply as it is when it is not five integers.
  std::string throttle(std::string_view arguments) {
    const std::string reply = send("CL.THROTTLE " + std::string(arguments) + "\r\n");
    if (!reply.starts_with("*5\r\n:")) return reply;
    std::string shown = reply.substr(5);
    for (std::size_t at; (at = shown.find("\r\n:")) != shown.npos;) shown.replace(at, 3, " ");
    return shown.substr(0, shown.size() - 2);
  }

  void at(Millis since_start) { limits_.clock.set(start_ + since_start); }

  CoreLimits limits_;
  const Instant start_ = limits_.clock.now();
  int log_fd_ = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  Log log_{limits_.clock, log_fd_, LogLevel::off, LogFormat::text};
  std::unique_ptr<runtime::Metrics> metrics_;
  std::optional<CoreThrottle> throttle_;
  std::unique_ptr<Guesses> guesses_;
  std::unique_ptr<runtime::MemoryBudget> memory_;
  std::unique_ptr<RespState> state_;
  std::vector<RespReply> replies_;
  std::unique_ptr<ThrottleBatch> batch_;
  std::unique_ptr<RespSession> session_;
  std::string held_;
  bool closed_ = false;
};

}  // namespace penstock::front
