#include "tool/bench/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/json.h"

namespace penstock::tool::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

Plan plan_of(std::uint64_t batch = 1) {
  Plan plan;
  plan.request.entries = batch;
  return plan;
}

LoadOutcome outcome_of(std::initializer_list<std::pair<int, std::uint64_t>> codes) {
  LoadOutcome outcome;
  outcome.seconds = 2;
  for (const auto& [code, count] : codes) {
    outcome.tally.codes[static_cast<std::size_t>(code)] = count;
    outcome.tally.answers += count;
    for (std::uint64_t i = 0; i < count; ++i) outcome.tally.latencies.record(Micros{1'500});
  }
  return outcome;
}

Report report_of(const Plan& plan, const LoadOutcome& outcome) {
  return {.what = "POST /x",
          .where = "http://h",
          .entry = "events",
          .run = "",
          .plan = plan,
          .outcome = outcome};
}

TEST(BenchReport, shows_rates_statuses_and_latencies) {
  const Plan plan = plan_of();
  const LoadOutcome outcome = outcome_of({{200, 4'000}, {429, 10}});
  const Report report = report_of(plan, outcome);
  EXPECT_TRUE(report.all_well()) << "a refusal by a limit is an answer as any";
  const std::string text = report_text(report);
  EXPECT_THAT(text, HasSubstr("POST /x at http://h\n64 connections, 1 thread, closed loop\n"));
  EXPECT_THAT(text, HasSubstr("answers/s              2,005\n"));
  EXPECT_THAT(text, HasSubstr("  200                  4,000\n"));
  EXPECT_THAT(text, HasSubstr("p99                  1.50 ms\n"));
  EXPECT_THAT(text, Not(HasSubstr("error")));
}

TEST(BenchReport, json_has_what_the_text_has) {
  Plan plan = plan_of(100);
  plan.rate = 50;
  LoadOutcome outcome = outcome_of({{200, 5}});
  outcome.tally.good_entries = 480;
  outcome.tally.unsent = 3;
  Report report = report_of(plan, outcome);
  report.run = "bench-1-";
  report.drain = Drain{.seconds = 4, .items = 400, .complete = false};
  EXPECT_FALSE(report.all_well());
  const std::string json = report_json(report);
  const auto document = wire::parse_json(json);
  ASSERT_TRUE(document) << json;
  const wire::JsonValue root = document->root();
  EXPECT_EQ(root.find("rate").integer(), 50);
  EXPECT_EQ(root.find("statuses").find("200").integer(), 5);
  EXPECT_EQ(root.find("entriesTaken").integer(), 480);
  EXPECT_EQ(root.find("errors").find("unsent").integer(), 3);
  EXPECT_EQ(root.find("latencyMicros").find("max").integer(), 1'500);
  EXPECT_EQ(root.find("drain").find("perSecond").raw(), "100.0");
  EXPECT_THAT(report_text(report), HasSubstr("due, no connection free"));
  EXPECT_THAT(report_text(report), HasSubstr("drained/s                100\n"));
}

TEST(BenchReport, says_what_went_wrong_first) {
  const Plan plan = plan_of();
  LoadOutcome outcome = outcome_of({{200, 1}, {404, 1}});
  outcome.tally.first_problem = R"({"status":404,"error":"Not Found","message":"no config"})";
  outcome.tally.first_problem_code = 404;
  const Report report = report_of(plan, outcome);
  EXPECT_FALSE(report.all_well());
  EXPECT_THAT(report_text(report),
              HasSubstr("the first that went wrong: 404 Not Found: no config\n"));
}

TEST(BenchReport, nothing_answered_is_not_well) {
  const Plan plan = plan_of();
  LoadOutcome outcome;
  EXPECT_FALSE(report_of(plan, outcome).all_well());
  EXPECT_EQ(report_of(plan, outcome).per_second(), 0);
}

TEST(BenchReport, the_line_fits_the_terminal) {
  const Plan plan = plan_of();
  const LoadProgress now{.seconds = 2, .answers = 100'000, .errors = 4};
  EXPECT_EQ(load_line(plan, now, 80), "2.0 of 10.0 s  100,000 answers  50,000/s  4 errors");
  EXPECT_EQ(load_line(plan, now, 10).size(), 10U);
}

TEST(BenchReport, words_for_sizes_and_times) {
  EXPECT_EQ(duration_text(Micros{730}), "730 us");
  EXPECT_EQ(duration_text(Micros{1'520}), "1.52 ms");
  EXPECT_EQ(duration_text(Micros{12'300'000}), "12.30 s");
  EXPECT_EQ(bytes_text(12), "12 B");
  EXPECT_EQ(bytes_text(1'572'864), "1.5 MiB");
}

}  // namespace
}  // namespace penstock::tool::bench
