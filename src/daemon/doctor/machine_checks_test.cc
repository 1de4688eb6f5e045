// The judgements about the machine, the settings and the data folder.
#include "daemon/doctor/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>

#include "daemon/doctor/test_findings.h"

namespace penstock::daemon::doctor {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kMiB = 1024 * 1024;

ClockView good_clock() {
  return {.wall = from_epoch_millis(1'800'000'000'000), .synchronised = true, .source = "tsc"};
}

TEST(DoctorClock, a_good_clock_has_nothing_to_fix) {
  EXPECT_TRUE(all_good(judge_clock(good_clock())));
}

TEST(DoctorClock, tells_a_clock_that_was_never_set_or_is_not_followed) {
  ClockView view = good_clock();
  view.wall = from_epoch_millis(0);
  EXPECT_EQ(finding_of(judge_clock(view), "clock.wall").status, Status::failed);
  view.synchronised = false;
  EXPECT_EQ(finding_of(judge_clock(view), "clock.ntp").status, Status::warning);
  view.synchronised.reset();
  EXPECT_EQ(finding_of(judge_clock(view), "clock.ntp").status, Status::skipped);
  view.source = "hpet";
  EXPECT_EQ(finding_of(judge_clock(view), "clock.steady").status, Status::warning);
  view.went_back = true;
  EXPECT_EQ(finding_of(judge_clock(view), "clock.steady").status, Status::failed);
}

TEST(DoctorLimits, files_memory_and_backlog_are_held_against_the_settings) {
  const Needs needs{.files = {.own = 60, .folder = true, .http = 10'000},
                    .memory_bytes = 500 * kMiB};
  LimitsView view{.files = 65'536, .memory_bytes = 2'000 * kMiB, .backlog = 4'096};
  EXPECT_TRUE(all_good(judge_limits(view, needs)));
  view.files = 1'024;
  EXPECT_THAT(finding_of(judge_limits(view, needs), "limits.files").fix,
              HasSubstr("LimitNOFILE=65536"));
  EXPECT_THAT(finding_of(judge_limits(view, needs), "limits.files").found,
              HasSubstr("lowers http.connections-max to 516"));
  view.files = 64;
  EXPECT_EQ(finding_of(judge_limits(view, needs), "limits.files").status, Status::failed);
  view.memory_bytes = 600 * kMiB;
  EXPECT_EQ(finding_of(judge_limits(view, needs), "limits.memory").status, Status::warning);
  view.memory_bytes = 400 * kMiB;
  EXPECT_EQ(finding_of(judge_limits(view, needs), "limits.memory").status, Status::failed);
  view.backlog = 128;
  EXPECT_THAT(finding_of(judge_limits(view, needs), "limits.backlog").fix,
              HasSubstr("sysctl -w net.core.somaxconn=4096"));
  view.random = false;
  EXPECT_EQ(finding_of(judge_limits(view, needs), "limits.random").status, Status::failed);
}

TEST(DoctorLimits, needs_grow_with_connections_caches_and_keys) {
  Config config;
  config.http.limits.connections = 10'000;
  config.embedded.cache_bytes = 0;
  config.throttle.max_keys = 0;
  const Needs least = needs_of(config);
  config.resp.address = "127.0.0.1";
  config.resp.limits.connections = 5'000;
  config.embedded.cache_bytes = 64 * kMiB;
  config.throttle.max_keys = 2'000'000;
  const Needs more = needs_of(config);
  EXPECT_EQ(more.files.total(), least.files.total() + 5'000);
  EXPECT_EQ(more.memory_bytes, least.memory_bytes + 64 * kMiB + 2'000'000 * 120);
  config.memory_max = 32 * kMiB;
  EXPECT_EQ(needs_of(config).memory_bytes, more.memory_bytes + 32 * kMiB);
  config.memory_max = 0;
  config.throttle.store = StoreChoice::redis;
  EXPECT_EQ(needs_of(config).memory_bytes, least.memory_bytes + 64 * kMiB + 500'000 * 120);
}

TEST(DoctorConfig, every_problem_is_a_finding_with_the_command_that_checks_it) {
  const Findings findings =
      judge_settings("p.yaml", std::unexpected(std::vector<std::string>{"p.yaml:1: no", "b"}));
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].status, Status::failed);
  EXPECT_THAT(findings[0].fix, HasSubstr("penstock check-config --config p.yaml"));
}

TEST(DoctorConfig, warnings_of_the_settings_are_warnings_here) {
  LoadedConfig loaded;
  loaded.warnings = {"the tokens are the same"};
  const Findings findings = judge_settings("", loaded);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].status, Status::ok);
  EXPECT_EQ(findings[1].status, Status::warning);
}

TEST(DoctorConfig, files_with_secrets_are_for_their_owner) {
  const auto count = [](mode_t mode, bool told) {
    return judge_secret_mode("http.tls.key-file", "/k", mode, told).size();
  };
  EXPECT_EQ(count(S_IFREG | 0600, false), 0U);
  EXPECT_EQ(count(S_IFREG | 0640, false), 0U);
  EXPECT_EQ(count(S_IFREG | 0644, false), 1U);
  EXPECT_EQ(count(S_IFREG | 0644, true), 0U);
  EXPECT_EQ(count(S_IFREG | 0666, false), 2U);
  EXPECT_EQ(count(S_IFIFO | 0666, false), 0U);
}

TEST(DoctorFolder, space_is_told_before_it_ends) {
  const auto status = [](std::uint64_t free) {
    return judge_disk("/d", {.place = "/d", .free_bytes = free}).status;
  };
  EXPECT_EQ(status(10'000 * kMiB), Status::ok);
  EXPECT_EQ(status(500 * kMiB), Status::warning);
  EXPECT_EQ(status(10 * kMiB), Status::failed);
}

TEST(DoctorFolder, access_says_who_may_not_and_what_to_do) {
  EXPECT_EQ(judge_access("/d", false, {.place = "/"}, "penstock").status, Status::ok);
  EXPECT_THAT(judge_access("/d", true, {.place = "/d", .problem = EACCES}, "penstock").fix,
              HasSubstr("install -d -o penstock -m 0700"));
  EXPECT_THAT(judge_access("/d", true, {.place = "/d", .problem = EROFS}, "penstock").fix,
              HasSubstr("mount it"));
}

TEST(DoctorFolder, a_folder_that_others_may_enter_is_told_once_it_holds_something) {
  EXPECT_EQ(judge_mode("/d", std::nullopt, false).status, Status::ok);
  const store::embedded::OpenFolder folder{.mode = 0755, .fix = "chmod -R go-rwx /d"};
  EXPECT_EQ(judge_mode("/d", folder, true).status, Status::ok);
  const Finding open = judge_mode("/d", folder, false);
  EXPECT_EQ(open.status, Status::warning);
  EXPECT_THAT(open.found, HasSubstr("0755"));
  EXPECT_EQ(open.fix, "chmod -R go-rwx /d");
}

TEST(DoctorFolder, schemas_of_other_versions) {
  const auto schema = [](std::optional<std::uint32_t> version) {
    return finding_of(judge_folder("/d",
                                   store::embedded::FolderView{
                                       .exists = true, .has_database = true, .schema = version},
                                   7, false),
                      "folder.schema");
  };
  EXPECT_EQ(schema(7).status, Status::ok);
  EXPECT_THAT(schema(6).fix, HasSubstr("penstock migrate --data-dir /d"));
  EXPECT_EQ(schema(8).status, Status::failed);
  EXPECT_EQ(schema(std::nullopt).status, Status::warning);
  const Findings broken = judge_folder("/d", fail(ErrorKind::corrupt, "bad block"), 7, false);
  EXPECT_THAT(finding_of(broken, "folder.schema").fix, HasSubstr("backup"));
}

TEST(DoctorFolder, data_that_is_lost_or_damaged_fails) {
  store::embedded::Verdict verdict;
  verdict.read = {.tables = 2, .tables_total = 2, .bytes = 3 * kMiB, .bytes_total = 3 * kMiB};
  EXPECT_EQ(judge_data("/d", verdict).found, "tables (3 of 3 MiB), logs and seal are whole");
  verdict.read.tables = 1;
  EXPECT_EQ(judge_data("/d", verdict).status, Status::ok);
  EXPECT_THAT(judge_data("/d", verdict).found, HasSubstr("for the rest: penstock verify /d"));
  verdict.damaged.emplace_back("7.sst: bad block");
  EXPECT_EQ(judge_data("/d", verdict).status, Status::failed);
  EXPECT_THAT(judge_data("/d", verdict).found, HasSubstr("7.sst"));
  verdict.loss = "the log is gone";
  EXPECT_EQ(judge_data("/d", verdict).found, "the log is gone");
  EXPECT_THAT(judge_data("/d", verdict).fix, HasSubstr("penstock verify /d"));
  EXPECT_EQ(judge_data("/d", fail(ErrorKind::unavailable, "in use")).status, Status::skipped);
}

TEST(DoctorFolder, tells_who_uses_it) {
  EXPECT_EQ(judge_lock(std::nullopt, true).status, Status::ok);
  EXPECT_THAT(judge_lock(42, false).found, HasSubstr("process 42"));
  EXPECT_EQ(judge_lock(42, false).status, Status::ok);
  EXPECT_EQ(judge_lock(42, true).status, Status::warning);
}

}  // namespace
}  // namespace penstock::daemon::doctor
