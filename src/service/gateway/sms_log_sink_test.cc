#include "service/gateway/sms_log_sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "base/rng.h"

namespace penstock::service {
namespace {

using testing::HasSubstr;

// This room cannot read contexts: here they are the line itself, or "broken".
Result<std::string> line_of(std::string_view context) {
  if (context == "broken") return fail(ErrorKind::invalid, "no message in it");
  return std::string(context);
}

class SmsLogSinkTest : public testing::Test {
 protected:
  ~SmsLogSinkTest() override { ::close(fd_); }

  sink::SinkAnswer send(std::string context) {
    SmsLogSink sink(log_, line_of);
    std::optional<sink::SinkAnswer> got;
    sink.send({.type = ItemType::trusted("SMS"),
               .id = ItemId::trusted("m-1"),
               .scheduled = {},
               .context = std::move(context)},
              [&](sink::SinkAnswer answer) { got = std::move(answer); });
    EXPECT_TRUE(got) << "answers before it returns";
    return got.value_or(sink::SinkAnswer{});
  }
  std::string written() const {
    std::string text(static_cast<std::size_t>(::lseek(fd_, 0, SEEK_END)), '\0');
    EXPECT_EQ(::pread(fd_, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    return text;
  }

  const SimulatedClock clock_{Instant{Seconds{1'700'000'000}}};
  const int fd_ = ::memfd_create("log", MFD_CLOEXEC);
  Log log_{clock_, fd_, LogLevel::info, LogFormat::json};
};

TEST_F(SmsLogSinkTest, property_8_every_message_that_is_sent_is_logged) {
  Rng rng(8);
  for (int i = 0; i < 120; ++i) {
    std::string line = std::to_string(rng.below(1U << 31)) + ": ";
    const char* const words[] = {"Hello", "World", "Grüße", "€", "😀", "ж"};
    for (std::uint64_t n = 1 + rng.below(12); n-- > 0;) line += words[rng.below(6)];
    EXPECT_EQ(send(line).outcome, sink::SinkOutcome::done);
    EXPECT_THAT(written(), HasSubstr("\"SMS Sent: " + line + "\""));
  }
}

TEST_F(SmsLogSinkTest, refuses_what_is_no_message) {
  const sink::SinkAnswer answer = send("broken");
  EXPECT_EQ(answer.outcome, sink::SinkOutcome::refused);
  EXPECT_THAT(answer.detail, HasSubstr("no message in it"));
  EXPECT_TRUE(written().empty());
}

}  // namespace
}  // namespace penstock::service
