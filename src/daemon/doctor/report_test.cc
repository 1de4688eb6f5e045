#include "daemon/doctor/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace penstock::daemon::doctor
