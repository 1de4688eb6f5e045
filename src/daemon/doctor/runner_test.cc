#include "daemon/doctor/runner.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>

namespace penstock::daemon::doctor {
namespace {

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
