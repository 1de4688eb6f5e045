#include "daemon/doctor/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>

#include "wire/json.h"

namespace penstock::daemon::doctor {
namespace {

using testing::HasSubstr;
using testing::Not;

const Findings kSome = {ok("clock.wall", "2026-01-01T00:00:00.000Z"),
                        warning("redis.memory", "nearly full", "raise maxmemory"),
                        failed("postgres.schema", "none\nat all", "penstock migrate"),
                        skipped("kafka", "kafka.brokers is not set")};

TEST(DoctorReport, has_a_line_for_each_finding_and_the_fix_below) {
  const std::string text = text_report(kSome, false);
  EXPECT_THAT(text, HasSubstr("OK    clock.wall              2026-01-01T00:00:00.000Z\n"));
  EXPECT_THAT(text, HasSubstr("FAIL  postgres.schema         none at all\n"));
  EXPECT_THAT(text, HasSubstr("-> penstock migrate\n"));
  EXPECT_THAT(text, HasSubstr("1 OK, 1 warning, 1 failed, 1 skipped\n"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(DoctorReport, is_coloured_when_asked) {
  EXPECT_THAT(text_report(kSome, true), HasSubstr("\x1b[31mFAIL\x1b[0m"));
}

TEST(DoctorReport, takes_the_control_characters_out_of_what_servers_say) {
  EXPECT_THAT(text_report({failed("a", "\x1b[2J", "x\ry")}, false), Not(HasSubstr("\x1b")));
}

TEST(DoctorReport, is_one_json_object) {
  const std::string json = json_report(kSome);
  const auto document = wire::parse_json(json);
  ASSERT_TRUE(document);
  const wire::JsonValue root = document->root();
  EXPECT_EQ(root.find("status").string(), "failed");
  EXPECT_EQ(root.find("checks").size(), kSome.size());
  EXPECT_EQ(root.find("checks").first().next().find("fix").string(), "raise maxmemory");
  EXPECT_EQ(root.find("counts").find("warnings").integer(), 1);
}

TEST(DoctorReport, warnings_alone_are_no_failure) {
  const std::string json = json_report({warning("a", "b", "c")});
  EXPECT_THAT(json, HasSubstr(R"("status":"warnings")"));
  EXPECT_THAT(json_report({ok("a", "b"), skipped("c", "d")}), HasSubstr(R"("status":"ok")"));
}

Area quick(const std::string& name) {
  return {name, [name](const runtime::Deadline&) -> Findings { return {ok(name, "good")}; }};
}

TEST(DoctorRunner, gives_findings_in_the_order_of_the_areas) {
  const RunResult result = run_areas({quick("a"), quick("b"), quick("c")}, Seconds{60}, Seconds{1});
  ASSERT_EQ(result.findings.size(), 3U);
  EXPECT_EQ(result.findings[0].name, "a");
  EXPECT_EQ(result.findings[2].name, "c");
  EXPECT_FALSE(result.left_running);
}

TEST(DoctorRunner, leaves_an_area_that_does_not_come_back_and_tells_the_others) {
  const auto gate = std::make_shared<std::promise<void>>();
  const auto opened = gate->get_future().share();
  Area stuck{"stuck", [opened](const runtime::Deadline&) -> Findings {
               opened.wait();
               return {ok("stuck", "too late")};
             }};
  const RunResult result = run_areas({stuck, quick("b")}, Millis{20}, Millis{20});
  EXPECT_TRUE(result.left_running);
  ASSERT_EQ(result.findings.size(), 2U);
  EXPECT_EQ(result.findings[0].status, Status::failed);
  EXPECT_EQ(result.findings[0].name, "stuck");
  EXPECT_EQ(result.findings[1].status, Status::ok);
  gate->set_value();
}

TEST(DoctorRunner, tells_each_area_its_time) {
  const RunResult result = run_areas({{"a",
                                       [](const runtime::Deadline& deadline) -> Findings {
                                         return {ok("a", std::to_string(deadline.limit().count()))};
                                       }}},
                                     Millis{5'000}, Seconds{60});
  EXPECT_EQ(result.findings.at(0).found, "5000");
}

}  // namespace
}  // namespace penstock::daemon::doctor
