#include "sink/log/log_sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <string>

namespace penstock::sink {
namespace {

using testing::HasSubstr;

// A log whose lines can be read back.
class LogSinkTest : public testing::Test {
 protected:
  ~LogSinkTest() override { ::close(fd_); }

  static Handover handover(int number) {
    return {.type = ItemType::trusted("PAYMENT"),
            .id = ItemId::trusted("p-" + std::to_string(number)),
            .scheduled = Instant{Seconds{1'700'000'000}},
            .attempt = 2,
            .context = R"({"secret":1})"};
  }
  int send(Sink& sink, int count) {
    int done = 0;
    for (int i = 0; i < count; ++i) {
      sink.send(handover(i),
                [&](SinkAnswer answer) { done += answer.outcome == SinkOutcome::done ? 1 : 0; });
    }
    return done;
  }
  std::string written() const {
    std::string text(static_cast<std::size_t>(::lseek(fd_, 0, SEEK_END)), '\0');
    EXPECT_EQ(::pread(fd_, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    return text;
  }
  std::size_t lines(std::string_view with) const {
    std::size_t count = 0;
    const std::string text = written();
    for (std::size_t at = text.find(with); at != text.npos; at = text.find(with, at + 1)) ++count;
    return count;
  }

  const SimulatedClock clock_{Instant{Seconds{1'700'000'000}}};
  const int fd_ = ::memfd_create("log", MFD_CLOEXEC);
  Log log_{clock_, fd_, LogLevel::info, LogFormat::text};
};

constexpr Millis kNever = std::chrono::hours{1};

TEST_F(LogSinkTest, writes_what_is_handed_over_but_no_payload) {
  LogSink sink(log_, kNever);
  EXPECT_EQ(send(sink, 1), 1);
  EXPECT_THAT(written(), HasSubstr("sink.handover item_type=PAYMENT item_id=p-0 "
                                   "scheduled=2023-11-14T22:13:20.000Z attempt=2 "
                                   "context_bytes=12\n"));
}

TEST_F(LogSinkTest, counts_what_is_too_much_to_read) {
  auto sink = std::make_unique<LogSink>(log_, kNever);
  EXPECT_EQ(send(*sink, 1'234), 1'234);
  EXPECT_EQ(lines("sink.handover "), LogSink::kLinesPerSecond);
  EXPECT_EQ(lines("and_more"), 0U);
  sink.reset();
  EXPECT_THAT(written(), HasSubstr("sink.more_handovers and_more=1134\n"));
}

TEST_F(LogSinkTest, says_nothing_more_when_there_is_no_more) {
  {
    LogSink sink(log_, kNever);
    send(sink, LogSink::kLinesPerSecond);
  }
  EXPECT_EQ(lines("and_more"), 0U);
}

TEST_F(LogSinkTest, starts_again_every_interval) {
  LogSink sink(log_, Millis{1});
  int sent = 0;
  while (lines("and_more") == 0) sent += send(sink, 200);
  // A summary is only written by the clock here, and lines go on after it.
  const std::size_t before = lines("sink.handover ");
  while (lines("sink.handover ") == before) sent += send(sink, 1);
  EXPECT_GT(sent, 200);
}

}  // namespace
}  // namespace penstock::sink
