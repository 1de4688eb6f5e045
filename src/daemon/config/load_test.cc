#include "daemon/config/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "runtime/secret_file.h"

namespace penstock::daemon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace fs = std::filesystem;

class LoadConfig : public testing::Test {
 protected:
  LoadConfig() { fs::create_directories(dir_); }
  ~LoadConfig() override { fs::remove_all(dir_); }

  std::string write(const std::string& name, const std::string& text, mode_t mode = 0600) {
    const fs::path path = dir_ / name;
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path.string();
  }

  const fs::path dir_ = fs::path(testing::TempDir()) /
                        (std::string("penstock_load_") + std::to_string(getpid()) + "_" +
                         testing::UnitTest::GetInstance()->current_test_info()->name());
};

constexpr const char* kToken = "0123456789abcdef";

std::string content_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(LoadConfig, gives_the_defaults_when_nothing_is_said) {
  const auto loaded = load_config({});
  ASSERT_TRUE(loaded);
  const Config& config = loaded->config;
  EXPECT_EQ(config.http.address, "127.0.0.1");
  EXPECT_EQ(config.http.port, 8080);
  EXPECT_EQ(config.data_dir, "./penstock-data");
  EXPECT_EQ(config.slots.default_config_name.str(), "default");
  EXPECT_EQ(config.slots.max_delay, std::chrono::days{1});
  EXPECT_EQ(config.log.level, LogLevel::info);
  EXPECT_EQ(config.embedded.durability, Durability::synced);
  EXPECT_FALSE(config.http.tokens.open_routes_need_token);
  EXPECT_THAT(loaded->changed, IsEmpty());
  EXPECT_THAT(loaded->warnings, IsEmpty());
}

TEST_F(LoadConfig, lets_the_environment_win_over_the_file_and_flags_over_both) {
  ConfigSources sources{
      .file = write("c.yaml",
                    "http: {listen: '127.0.0.1:1', threads: 1}\n"
                    "log: {level: warn}\nslots: {max-delay: PT1S}\n"),
      .environment = {{"PENSTOCK_HTTP_LISTEN", "127.0.0.1:2"}, {"PENSTOCK_LOG_LEVEL", "error"}},
      .flags = {{find_key("http.listen"), "127.0.0.1:3"}}};
  const auto loaded = load_config(sources);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->config.http.port, 3);
  EXPECT_EQ(loaded->config.log.level, LogLevel::error);
  EXPECT_EQ(loaded->config.http.threads, 1U);
  EXPECT_EQ(loaded->config.slots.max_delay, Seconds{1});
  ASSERT_EQ(loaded->changed.size(), 4U);
  EXPECT_EQ(loaded->changed[0].origin, "--http");
  EXPECT_EQ(loaded->changed[1].origin, sources.file.string() + ":1");
}

TEST_F(LoadConfig, does_not_count_a_written_out_default_as_a_change) {
  const auto loaded = load_config(
      {.file = write("c.yaml", "http: {body-bytes-max: 1048576, idle-timeout: PT60S}")});
  ASSERT_TRUE(loaded);
  EXPECT_THAT(loaded->changed, IsEmpty());
}

TEST_F(LoadConfig, reports_the_problems_of_all_sources_together) {
  const auto loaded = load_config({.file = write("c.yaml", "a: 1\nhttp: {threads: x}\n"),
                                   .environment = {{"PENSTOCK_NOPE", "1"}},
                                   .flags = {{find_key("log.level"), "loud"}}});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().size(), 4U);
}

TEST_F(LoadConfig, loads_the_tokens_and_cuts_white_space) {
  const std::string admin = write("admin", std::string("  ") + kToken + "A\r\n");
  const std::string api = write("api", std::string(kToken) + "B");
  const auto loaded = load_config({.flags = {{find_key("http.listen"), "0.0.0.0:0"},
                                             {find_key("auth.admin-token-file"), admin},
                                             {find_key("auth.api-token-file"), api}}});
  ASSERT_TRUE(loaded) << loaded.error().front();
  EXPECT_EQ(loaded->config.http.tokens.admin, std::string(kToken) + "A");
  EXPECT_EQ(loaded->config.http.tokens.api, std::string(kToken) + "B");
  EXPECT_TRUE(loaded->config.http.tokens.open_routes_need_token);
  EXPECT_THAT(loaded->warnings, IsEmpty());
}

TEST_F(LoadConfig, opens_health_and_metrics_when_told_to) {
  const std::string admin = write("admin", std::string(kToken) + "A");
  const std::string api = write("api", std::string(kToken) + "B");
  const auto loaded = load_config({.environment = {{"PENSTOCK_HTTP_LISTEN", "[::]:0"},
                                                   {"PENSTOCK_AUTH_ADMIN_TOKEN_FILE", admin},
                                                   {"PENSTOCK_AUTH_API_TOKEN_FILE", api},
                                                   {"PENSTOCK_AUTH_OPEN_METRICS", "true"}}});
  ASSERT_TRUE(loaded);
  EXPECT_FALSE(loaded->config.http.tokens.open_routes_need_token);
}

TEST_F(LoadConfig, refuses_other_machines_without_tokens_in_one_sentence) {
  const auto loaded = load_config({.flags = {{find_key("http.listen"), "0.0.0.0:8080"}}});
  ASSERT_FALSE(loaded);
  EXPECT_THAT(
      loaded.error(),
      ElementsAre("--http: http.listen is 0.0.0.0:8080, which other machines can reach, and "
                  "neither auth.admin-token-file nor auth.api-token-file is set: set both, "
                  "or listen on 127.0.0.1, or write `auth: none` to serve without tokens"));
  const std::string admin = write("admin", kToken);
  EXPECT_FALSE(load_config({.flags = {{find_key("http.listen"), "0.0.0.0:8080"},
                                      {find_key("auth.admin-token-file"), admin}}}));
}

TEST_F(LoadConfig, serves_other_machines_without_tokens_when_that_is_written_out) {
  const auto loaded =
      load_config({.file = write("c.yaml", "http: {listen: '0.0.0.0:0'}\nauth: none")});
  ASSERT_TRUE(loaded);
  EXPECT_FALSE(loaded->config.http.tokens.open_routes_need_token);
  EXPECT_THAT(loaded->warnings, ElementsAre(HasSubstr("auth: none on 0.0.0.0:0")));
}

TEST_F(LoadConfig, refuses_tokens_beside_auth_none) {
  const auto loaded = load_config(
      {.file = write("c.yaml", "auth: none"), .flags = {{find_key("auth.admin-token-file"), "t"}}});
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().front(), HasSubstr("contradicts auth: none"));
}

TEST_F(LoadConfig, warns_about_tokens_that_do_not_protect) {
  const std::string open = write("open", kToken, 0644);
  const std::string same = write("same", kToken);
  const auto both = load_config({.flags = {{find_key("auth.admin-token-file"), open},
                                           {find_key("auth.api-token-file"), same}}});
  ASSERT_TRUE(both);
  EXPECT_THAT(both->warnings, ElementsAre(HasSubstr("everyone on this machine can read"),
                                          HasSubstr("are the same")));
  const auto only_api = load_config({.flags = {{find_key("auth.api-token-file"), same}}});
  ASSERT_TRUE(only_api);
  EXPECT_THAT(only_api->warnings, ElementsAre(HasSubstr("/admin/** is open")));
}

TEST_F(LoadConfig, leaves_secret_files_alone_when_told_to) {
  EXPECT_TRUE(load_config({.flags = {{find_key("auth.admin-token-file"), "/nonexistent/token"}},
                           .read_secret_files = false}));
}

TEST_F(LoadConfig, refuses_a_file_that_cannot_be_read) {
  EXPECT_THAT(load_config({.file = dir_}).error(), ElementsAre(HasSubstr("it is a folder")));
  EXPECT_THAT(load_config({.file = dir_ / "none.yaml"}).error(),
              ElementsAre(HasSubstr("No such file")));
  EXPECT_THAT(load_config({.file = write("big.yaml", std::string((1 << 20) + 1, '#'))}).error(),
              ElementsAre(HasSubstr("larger than 1MiB")));
}

TEST_F(LoadConfig, never_shows_what_a_token_file_holds) {
  for (const std::string& content :
       {std::string("two words"), std::string(15, 's'), std::string(513, 's'),
        std::string("0123456789abcde \xc3\xa9"), std::string()}) {
    const Result<runtime::SecretFile> token = runtime::read_token_file(write("t", content));
    ASSERT_FALSE(token);
    EXPECT_THAT(token.error().what, HasSubstr("must hold one token of 16 to 512"));
    if (!content.empty()) {
      EXPECT_THAT(token.error().what, testing::Not(HasSubstr(content)));
    }
  }
  EXPECT_TRUE(runtime::read_token_file(write("t", std::string(16, 's'))));
  EXPECT_TRUE(runtime::read_token_file(write("t", std::string(512, 's') + "\n\n")));
  EXPECT_TRUE(runtime::read_key_file(write("t", "s"))) << "another server's";
}

TEST_F(LoadConfig, takes_the_lists_of_the_filter_from_a_file_and_a_variable) {
  const auto from_file =
      load_config({.file = write("c.yaml",
                                 "throttle:\n  filter:\n    trusted-proxies: [10.0.0.0/8, '::1']\n"
                                 "    rules: [[ip], [user, route]]\n")});
  ASSERT_TRUE(from_file) << from_file.error().front();
  const auto from_variable =
      load_config({.environment = {{"PENSTOCK_THROTTLE_FILTER_TRUSTED_PROXIES", "10.0.0.0/8, ::1"},
                                   {"PENSTOCK_THROTTLE_FILTER_RULES", "ip,user+route"}}});
  ASSERT_TRUE(from_variable) << from_variable.error().front();
  for (const Config* config : {&from_file->config, &from_variable->config}) {
    const wire::FilterRules& filter = config->throttle.filter;
    EXPECT_EQ(filter.trusted_proxies.size(), 2U);
    EXPECT_EQ(filter.rules, (std::vector<wire::KeyRule>{
                                {wire::KeyPart::ip}, {wire::KeyPart::user, wire::KeyPart::route}}));
  }
}

TEST_F(LoadConfig, warns_about_filter_rules_that_never_apply) {
  const auto loaded =
      load_config({.file = write("c.yaml", "throttle: {filter: {rules: [[user]]}}")});
  ASSERT_TRUE(loaded);
  EXPECT_THAT(loaded->warnings, ElementsAre(HasSubstr("those rules never apply")));
}

TEST_F(LoadConfig, gives_throttle_the_default_policy_of_the_core) {
  const auto loaded = load_config({});
  ASSERT_TRUE(loaded);
  const core::PolicyDraft& have = loaded->config.throttle.default_policy;
  EXPECT_EQ(have.limit, core::default_policy_draft().limit);
  EXPECT_EQ(have.refill_text, core::default_policy_draft().refill_text);
  EXPECT_EQ(loaded->config.throttle.max_keys, 2'000'000U);
  EXPECT_EQ(loaded->config.throttle.filter.rules, wire::FilterRules{}.rules);
  EXPECT_EQ(loaded->config.throttle.filter.user_header, wire::FilterRules{}.user_header);
}

// Every mistake has a file; NAME.txt holds what the person sees, line by line.
TEST(BadConfigs, are_each_refused_with_their_message) {
  const fs::path dir = "tests/data/config_bad";
  std::size_t files = 0;
  ASSERT_TRUE(fs::is_directory(dir)) << "run from the top of the repository";
  for (const fs::directory_entry& entry : fs::directory_iterator(dir)) {
    if (entry.path().extension() != ".yaml") continue;
    ++files;
    const auto loaded = load_config({.file = entry.path()});
    std::string seen;
    if (loaded) {
      seen = "accepted\n";
    } else {
      for (const std::string& problem : loaded.error()) seen += problem + "\n";
    }
    EXPECT_EQ(seen, content_of(fs::path(entry.path()).replace_extension(".txt"))) << entry.path();
  }
  EXPECT_GE(files, 20U);
}

TEST(GoodConfigs, are_each_taken) {
  std::size_t files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator("tests/data/config_good")) {
    if (entry.path().extension() != ".yaml") continue;
    ++files;
    const auto loaded = load_config({.file = entry.path()});
    EXPECT_TRUE(loaded) << entry.path() << ": " << loaded.error().front();
  }
  EXPECT_GE(files, 3U);
}

// Each key takes a value other than its default and shows it among the changes: no key is deaf.
TEST(GoodConfigs, every_key_is_set_by_the_full_example) {
  const auto loaded = load_config({.file = "tests/data/config_good/every_key.yaml"});
  ASSERT_TRUE(loaded) << loaded.error().front();
  std::size_t expected = 0;
  for (const Key& key : keys()) {
    // Excluded by the tokens, by the embedded store; one choice only.
    const bool fixed =
        key.path() == "auth" || key.path() == "throttle.mode" || key.path() == "gateway.cache";
    const bool seen =
        std::ranges::any_of(loaded->changed, [&](const Setting& s) { return s.key == &key; });
    EXPECT_EQ(seen, !fixed) << key.path();
    expected += fixed ? 0 : 1;
  }
  EXPECT_EQ(loaded->changed.size(), expected);
}

}  // namespace
}  // namespace penstock::daemon
