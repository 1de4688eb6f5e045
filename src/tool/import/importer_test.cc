#include "tool/import/importer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace penstock::tool {
namespace {

using testing::HasSubstr;

// `count` records "0", "1", …; every record whose number ends in `bad_digit` cannot be sent.
class Numbers final : public RecordReader {
 public:
  explicit Numbers(std::uint64_t count, int bad_digit = -1)
      : count_(count), bad_digit_(bad_digit) {}

  Result<bool> next(Record& record) override {
    if (fail_at == read_) return fail(ErrorKind::unavailable, "the disk is gone");
    if (read_ == count_) return false;
    record = {.line = read_ + 1, .input = std::to_string(read_), .json = {}, .problem = {}};
    if (static_cast<int>(read_ % 10) == bad_digit_) {
      record.problem = "is bad";
    } else {
      record.json = record.input;
    }
    ++read_;
    most_read = read_;
    return true;
  }

  std::uint64_t fail_at = ~std::uint64_t{0};
  std::atomic<std::uint64_t> most_read = 0;

 private:
  const std::uint64_t count_;
  const int bad_digit_;
  std::uint64_t read_ = 0;
};

std::size_t lines_in(const std::string& body) {
  return static_cast<std::size_t>(std::ranges::count(body, '\n'));
}

http::HttpAnswer all_assigned(const std::string& body) {
  std::string results;
  for (std::size_t i = 0; i < lines_in(body); ++i) {
    results += fmt::format("{}{{\"scheduledTime\":\"T{}\"}}", i == 0 ? "" : ",", i);
  }
  return {.status = 200, .body = fmt::format("{{\"results\":[{}]}}", results), .retry_after = {}};
}

// Runs an import against `send`, with time that passes at once.
struct Trial {
  ImportOptions options{.batch_lines = 10, .concurrency = 4, .patience = {}};
  std::function<Result<http::HttpAnswer>(const std::string&)> send = all_assigned;
  std::function<bool()> stopped = [] { return false; };
  std::atomic<std::int64_t> slept_ms = 0;
  std::vector<std::uint64_t> lines;  // in the order of delivery
  std::atomic<std::uint64_t> delivered = 0;
  std::string output_error;

  ImportOutcome operator()(RecordReader& records) {
    return Importer(options,
                    {.make_sender = [this] { return send; },
                     .stopped = stopped,
                     .sleep = [this](Millis delay) { slept_ms += delay.count(); },
                     .bytes_read = [] { return std::uint64_t{0}; },
                     .on_line = [this](const Record& record, const LineAnswer&) -> Result<void> {
                       lines.push_back(record.line);
                       ++delivered;
                       if (!output_error.empty()) {
                         return fail(ErrorKind::unavailable, output_error);
                       }
                       return {};
                     },
                     .on_progress = [](const ImportTally&, std::uint64_t,
                                       const std::string&) -> Result<void> { return {}; }})
        .run(records);
  }
};

TEST(Importer, gets_every_line_answered_in_the_order_of_the_file) {
  Trial run;
  std::atomic<int> calls = 0;
  run.send = [&](const std::string& body) {
    if (++calls % 3 == 0) std::this_thread::yield();  // later batches overtake
    return all_assigned(body);
  };
  Numbers numbers(1'234);
  const ImportOutcome outcome = run(numbers);
  EXPECT_EQ(outcome.stop.end, ImportEnd::complete);
  EXPECT_EQ(outcome.tally.read, 1'234U);
  EXPECT_EQ(outcome.tally.accepted, 1'234U);
  EXPECT_EQ(outcome.tally.latest_scheduled_time, "T9");
  EXPECT_EQ(run.lines.size(), 1'234U);
  EXPECT_TRUE(std::ranges::is_sorted(run.lines));
  EXPECT_EQ(calls, 124);
}

TEST(Importer, takes_an_empty_file) {
  Trial run;
  Numbers numbers(0);
  const ImportOutcome outcome = run(numbers);
  EXPECT_EQ(outcome.stop.end, ImportEnd::complete);
  EXPECT_EQ(outcome.tally.read, 0U);
}

TEST(Importer, fails_bad_lines_alone_and_does_not_send_them) {
  Trial run;
  std::atomic<std::size_t> sent = 0;
  run.send = [&](const std::string& body) {
    sent += lines_in(body);
    return all_assigned(body);
  };
  Numbers numbers(100, 3);
  const ImportOutcome outcome = run(numbers);
  EXPECT_EQ(outcome.stop.end, ImportEnd::complete);
  EXPECT_EQ(outcome.tally.not_taken(), 10U);
  EXPECT_EQ(outcome.tally.accepted, 90U);
  EXPECT_EQ(outcome.tally.reasons.at("the line is bad"), 10U);
  EXPECT_EQ(sent, 90U);
}

TEST(Importer, does_not_read_far_ahead_of_a_slow_daemon) {
  Trial run;
  // Three batches of ten lines per sender, and one more that waits for room.
  constexpr std::uint64_t kAheadMax = (3 * 4 + 1) * 10;
  std::atomic<std::uint64_t> worst = 0;
  Numbers numbers(20'000);
  run.send = [&](const std::string& body) -> Result<http::HttpAnswer> {
    while (numbers.most_read < kAheadMax) std::this_thread::yield();  // as slow as it may be
    const std::uint64_t read = numbers.most_read;
    const std::uint64_t delivered = run.delivered;
    if (read > delivered && read - delivered > worst) worst = read - delivered;
    return all_assigned(body);
  };
  EXPECT_EQ(run(numbers).tally.accepted, 20'000U);
  EXPECT_GE(worst, 100U);
  EXPECT_LE(worst, kAheadMax);
}

TEST(Importer, rides_out_a_restart_of_the_daemon) {
  Trial run;
  std::atomic<int> calls = 0;
  run.send = [&](const std::string& body) -> Result<http::HttpAnswer> {
    const int call = ++calls;
    if (call > 5 && call < 30) return fail(ErrorKind::unavailable, "Connection refused");
    return all_assigned(body);
  };
  Numbers numbers(200);
  const ImportOutcome outcome = run(numbers);
  EXPECT_EQ(outcome.stop.end, ImportEnd::complete);
  EXPECT_EQ(outcome.tally.accepted, 200U);
  EXPECT_EQ(outcome.tally.retries, 24U);
  EXPECT_GT(run.slept_ms, 0);
}

TEST(Importer, honours_retry_after) {
  Trial run;
  run.options.concurrency = 1;
  std::atomic<int> calls = 0;
  run.send = [&](const std::string& body) -> Result<http::HttpAnswer> {
    if (++calls == 1) return http::HttpAnswer{.status = 503, .body = "", .retry_after = Seconds{3}};
    return all_assigned(body);
  };
  Numbers numbers(10);
  EXPECT_EQ(run(numbers).tally.accepted, 10U);
  EXPECT_EQ(run.slept_ms, 3'000);
}

TEST(Importer, sends_again_only_the_lines_that_ask_for_it) {
  Trial run;
  run.options.concurrency = 1;
  std::vector<std::string> bodies;
  run.send = [&](const std::string& body) -> Result<http::HttpAnswer> {
    bodies.push_back(body);
    if (bodies.size() > 1) return all_assigned(body);
    return http::HttpAnswer{.status = 200,
                            .body = R"({"results":[{"scheduledTime":"T"},)"
                                    R"({"status":503,"error":"E","message":"m","retryAfterMs":5},)"
                                    R"({"status":400,"error":"E","message":"m"}]})",
                            .retry_after = {}};
  };
  Numbers numbers(3);
  const ImportOutcome outcome = run(numbers);
  EXPECT_EQ(outcome.tally.accepted, 2U);
  EXPECT_EQ(outcome.tally.not_taken(), 1U);
  EXPECT_EQ(bodies, (std::vector<std::string>{"0\n1\n2\n", "1\n"}));
}

TEST(Importer, has_patience_while_some_lines_get_through) {
  Trial run;
  run.options.patience.after = Millis{500};
  run.send = [](const std::string& body) {
    std::string results = R"({"scheduledTime":"T0"})";
    for (std::size_t i = 1; i < lines_in(body); ++i) {
      results += R"(,{"status":503,"error":"Service Unavailable","message":"full",)"
                 R"("retryAfterMs":100})";
    }
    return http::HttpAnswer{
        .status = 200, .body = fmt::format("{{\"results\":[{}]}}", results), .retry_after = {}};
  };
  Numbers numbers(10);
  const ImportOutcome outcome = run(numbers);
  EXPECT_EQ(outcome.stop.end, ImportEnd::complete) << outcome.stop.why;
  EXPECT_EQ(outcome.tally.accepted, 10U);
}

TEST(Importer, halves_batches_that_are_too_large) {
  Trial run;
  std::atomic<std::size_t> largest_taken = 0;
  run.send = [&](const std::string& body) -> Result<http::HttpAnswer> {
    if (lines_in(body) > 3) return http::HttpAnswer{.status = 413, .body = "", .retry_after = {}};
    if (lines_in(body) > largest_taken) largest_taken = lines_in(body);
    return all_assigned(body);
  };
  Numbers numbers(100);
  EXPECT_EQ(run(numbers).tally.accepted, 100U);
  EXPECT_LE(largest_taken, 3U);
}

TEST(Importer, gives_up_soon_when_nobody_ever_answered) {
  Trial run;
  run.send = [](const std::string&) -> Result<http::HttpAnswer> {
    return fail(ErrorKind::unavailable, "cannot reach http://h");
  };
  Numbers numbers(1'000);
  const ImportOutcome outcome = run(numbers);
  EXPECT_EQ(outcome.stop.end, ImportEnd::unreachable);
  EXPECT_THAT(outcome.stop.why, HasSubstr("cannot reach http://h (gave up after PT5S)"));
  EXPECT_EQ(outcome.tally.accepted, 0U);
  EXPECT_EQ(outcome.tally.unanswered(), outcome.tally.read);
}

TEST(Importer, gives_up_at_once_when_the_token_is_wrong) {
  Trial run;
  run.send = [](const std::string&) -> Result<http::HttpAnswer> {
    return http::HttpAnswer{.status = 401, .body = "", .retry_after = {}};
  };
  Numbers numbers(1'000);
  const ImportOutcome outcome = run(numbers);
  EXPECT_EQ(outcome.stop.end, ImportEnd::refused);
  EXPECT_EQ(run.slept_ms, 0);
}

TEST(Importer, counts_what_was_answered_behind_the_batch_that_ended_it) {
  Trial run;
  run.options.concurrency = 2;
  const http::HttpAnswer refused{.status = 401, .body = "{}", .retry_after = {}};
  std::atomic<bool> second_is_answered = false;
  run.send = [&](const std::string& body) {
    if (body.starts_with("10\n")) return all_assigned(body);
    // Whoever asks for the third batch has handed in the second.
    if (body.starts_with("20\n")) second_is_answered = true;
    second_is_answered.notify_all();
    second_is_answered.wait(false);
    return refused;
  };
  Numbers numbers(30);
  const ImportOutcome outcome = run(numbers);
  EXPECT_EQ(outcome.stop.end, ImportEnd::refused);
  EXPECT_EQ(outcome.tally.accepted, 10U);
  EXPECT_EQ(run.lines.size(), 10U);
}

TEST(Importer, ends_in_order_when_interrupted) {
  Trial run;
  std::atomic<int> calls = 0;
  run.send = [&](const std::string& body) {
    ++calls;
    return all_assigned(body);
  };
  run.stopped = [&] { return calls >= 10; };
  Numbers numbers(1'000'000);
  const ImportOutcome outcome = run(numbers);
  EXPECT_EQ(outcome.stop.end, ImportEnd::interrupted);
  // Calls in flight still count: every answered line was delivered.
  EXPECT_EQ(outcome.tally.accepted, static_cast<std::uint64_t>(calls.load()) * 10);
  EXPECT_EQ(run.lines.size(), outcome.tally.accepted);
  EXPECT_LE(calls, 14);
}

TEST(Importer, ends_when_the_input_breaks_and_keeps_what_was_read) {
  Trial run;
  Numbers numbers(1'000);
  numbers.fail_at = 55;
  const ImportOutcome outcome = run(numbers);
  EXPECT_EQ(outcome.stop.end, ImportEnd::input_broken);
  EXPECT_EQ(outcome.stop.why, "the disk is gone");
  EXPECT_GE(outcome.tally.read, 50U);
}

TEST(Importer, ends_when_the_output_breaks) {
  Trial run;
  run.output_error = "disk full";
  Numbers numbers(1'000'000);
  const ImportOutcome outcome = run(numbers);
  EXPECT_EQ(outcome.stop.end, ImportEnd::output_broken);
  EXPECT_EQ(outcome.stop.why, "disk full");
  EXPECT_LT(outcome.tally.read, 1'000'000U);
}

TEST(Importer, knows_through_which_line_all_is_answered) {
  Trial run;
  std::atomic<int> calls = 0;
  run.options.concurrency = 1;
  run.options.before.accepted = 5;
  run.send = [&](const std::string& body) -> Result<http::HttpAnswer> {
    if (++calls > 3) return http::HttpAnswer{.status = 401, .body = "", .retry_after = {}};
    return all_assigned(body);
  };
  Numbers numbers(100);
  const ImportOutcome outcome = run(numbers);
  EXPECT_EQ(outcome.stop.end, ImportEnd::refused);
  EXPECT_EQ(outcome.tally.through_line, 30U);
  EXPECT_EQ(outcome.tally.accepted, 35U) << "what was done before is counted on";
}

}  // namespace
}  // namespace penstock::tool
