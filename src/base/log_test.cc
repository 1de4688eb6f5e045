#include "base/log.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <limits>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace penstock {
namespace {

constexpr Instant kAt = from_epoch_millis(1'748'779'202'371);  // 2025-06-01T12:00:02.371Z

std::string text_line(Log::Fields fields) {
  return format_log_line(LogFormat::text, kAt, LogLevel::info, "a.b", fields);
}

std::string json_line(Log::Fields fields) {
  return format_log_line(LogFormat::json, kAt, LogLevel::info, "a.b", fields);
}

// What a text line says after the event, and a JSON line behind the event's comma.
std::string text_fields(Log::Fields fields) {
  const std::string line = text_line(fields);
  const std::string head = "2025-06-01T12:00:02.371Z info  a.b ";
  EXPECT_TRUE(line.starts_with(head) && line.ends_with("\n")) << line;
  return line.substr(head.size(), line.size() - head.size() - 1);
}

std::string json_fields(Log::Fields fields) {
  const std::string line = json_line(fields);
  const std::string head = R"({"time":"2025-06-01T12:00:02.371Z","level":"info","event":"a.b",)";
  EXPECT_TRUE(line.starts_with(head) && line.ends_with("}\n")) << line;
  return line.substr(head.size(), line.size() - head.size() - 2);
}

// A log into memory.
class LogSink {
 public:
  LogSink() : fd_(memfd_create("log_test", 0)) {}
  LogSink(const LogSink&) = delete;
  LogSink& operator=(const LogSink&) = delete;
  ~LogSink() { close(fd_); }

  int fd() const noexcept { return fd_; }
  std::string written() const {
    std::string text(static_cast<std::size_t>(lseek(fd_, 0, SEEK_END)), '\0');
    EXPECT_EQ(pread(fd_, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    return text;
  }

 private:
  int fd_;
};

TEST(LogLine, is_time_level_event_and_fields_as_text) {
  EXPECT_EQ(text_line({}), "2025-06-01T12:00:02.371Z info  a.b\n");
  EXPECT_EQ(format_log_line(LogFormat::text, kAt, LogLevel::error, "x.failed", {{"n", 1}}),
            "2025-06-01T12:00:02.371Z error x.failed n=1\n");
  EXPECT_EQ(format_log_line(LogFormat::text, kAt, LogLevel::warn, "x", {}),
            "2025-06-01T12:00:02.371Z warn  x\n");
  EXPECT_EQ(format_log_line(LogFormat::text, kAt, LogLevel::debug, "x", {}),
            "2025-06-01T12:00:02.371Z debug x\n");
}

TEST(LogLine, is_one_flat_object_as_json) {
  EXPECT_EQ(json_line({}), R"({"time":"2025-06-01T12:00:02.371Z","level":"info","event":"a.b"})"
                           "\n");
  EXPECT_EQ(json_fields({{"k", "v"}, {"n", 5}}), R"("k":"v","n":5)");
}

TEST(LogLine, prints_every_type_of_value) {
  const std::string owned = "text";
  const Log::Fields fields = {{"s", owned},
                              {"i", std::numeric_limits<std::int64_t>::min()},
                              {"u", std::size_t{7}},
                              {"d", 0.25},
                              {"t", true},
                              {"f", false},
                              {"at", kAt}};
  EXPECT_EQ(text_fields(fields),
            "s=text i=-9223372036854775808 u=7 d=0.25 t=true f=false at=2025-06-01T12:00:02.371Z");
  EXPECT_EQ(json_fields(fields),
            R"("s":"text","i":-9223372036854775808,"u":7,"d":0.25,"t":true,"f":false,)"
            R"("at":"2025-06-01T12:00:02.371Z")");
}

TEST(LogLine, quotes_text_that_could_be_misread) {
  EXPECT_EQ(text_fields({{"a", ""}}), R"(a="")");
  EXPECT_EQ(text_fields({{"a", "two words"}}), R"(a="two words")");
  EXPECT_EQ(text_fields({{"a", "b=c"}}), R"(a="b=c")");
  EXPECT_EQ(text_fields({{"a", R"(say "x")"}}), R"(a="say \"x\"")");
  EXPECT_EQ(text_fields({{"a", R"(c:\x)"}}), R"(a="c:\\x")");
  EXPECT_EQ(text_fields({{"a", "gr\xc3\xbc\xc3\x9f"}}), "a=\"gr\xc3\xbc\xc3\x9f\"");
  EXPECT_EQ(text_fields({{"a", "plain-._:/[]{}"}}), "a=plain-._:/[]{}");
  EXPECT_EQ(text_fields({{"a", std::string(256, 'x')}}), "a=" + std::string(256, 'x'));
  EXPECT_EQ(text_fields({{"a", std::string(257, 'x')}}), "a=\"" + std::string(257, 'x') + "\"");
}

TEST(LogLine, stays_one_line_whatever_a_value_holds) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  for (const std::string& line : {text_line({{"a", all}}), json_line({{"a", all}, {"b\n", 1}})}) {
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    EXPECT_EQ(line.find('\r'), std::string::npos);
    EXPECT_EQ(line.find('\0'), std::string::npos);
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
    EXPECT_EQ(line.find('\x7f'), std::string::npos);
  }
  EXPECT_EQ(json_fields({{"a", "\n\x1b\x7f"}}), R"("a":"\u000a\u001b\u007f")");
}

TEST(LogLine, cuts_a_value_that_is_too_long) {
  EXPECT_EQ(json_fields({{"a", std::string(5'000, 'x')}}),
            R"("a":")" + std::string(2'048, 'x') + '"');
}

TEST(LogLine, stays_json_when_a_number_is_not_finite) {
  EXPECT_EQ(json_fields({{"d", std::numeric_limits<double>::quiet_NaN()}}), R"("d":"nan")");
  EXPECT_EQ(json_fields({{"d", std::numeric_limits<double>::infinity()}}), R"("d":"inf")");
  EXPECT_EQ(json_fields({{"d", -std::numeric_limits<double>::infinity()}}), R"("d":"-inf")");
  EXPECT_EQ(text_fields({{"d", std::numeric_limits<double>::quiet_NaN()}}), "d=nan");
}

TEST(Log, writes_lines_of_its_level_and_above_with_the_clocks_time) {
  SimulatedClock clock(kAt);
  const LogSink sink;
  Log log(clock, sink.fd(), LogLevel::warn, LogFormat::text);
  log.debug("no");
  log.info("no");
  log.warn("yes");
  clock.advance(Millis{1});
  log.error("yes", {{"n", 2}});
  EXPECT_EQ(sink.written(),
            "2025-06-01T12:00:02.371Z warn  yes\n2025-06-01T12:00:02.372Z error yes n=2\n");
}

TEST(Log, changes_its_level_at_once) {
  const SimulatedClock clock(kAt);
  const LogSink sink;
  Log log(clock, sink.fd(), LogLevel::off, LogFormat::text);
  log.error("no");
  EXPECT_FALSE(log.enabled(LogLevel::error));
  log.set_level(LogLevel::debug);
  EXPECT_TRUE(log.enabled(LogLevel::debug));
  log.debug("yes");
  EXPECT_EQ(sink.written(), "2025-06-01T12:00:02.371Z debug yes\n");
}

TEST(Log, outlives_a_file_that_cannot_be_written) {
  const SimulatedClock clock(kAt);
  Log log(clock, -1, LogLevel::info, LogFormat::json);
  log.info("lost");
}

TEST(Log, keeps_lines_of_several_threads_whole) {
  const SimulatedClock clock(kAt);
  const LogSink sink;
  Log log(clock, sink.fd(), LogLevel::info, LogFormat::text);
  constexpr int kThreads = 4;
  constexpr int kLines = 200;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&log, t] {
        for (int i = 0; i < kLines; ++i) log.info("x", {{"n", t * kLines + i}});
      });
    }
  }
  std::multiset<std::string> expected;
  for (int i = 0; i < kThreads * kLines; ++i) {
    expected.insert("2025-06-01T12:00:02.371Z info  x n=" + std::to_string(i));
  }
  std::multiset<std::string> lines;
  const std::string written = sink.written();
  for (std::size_t at = 0; at < written.size();) {
    const std::size_t end = written.find('\n', at);
    ASSERT_NE(end, std::string::npos);
    lines.insert(written.substr(at, end - at));
    at = end + 1;
  }
  EXPECT_EQ(lines, expected);
}

}  // namespace
}  // namespace penstock
