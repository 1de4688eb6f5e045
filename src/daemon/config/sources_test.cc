#include "daemon/config/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::daemon {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ReadYaml, takes_values_with_their_lines) {
  const SourceReading reading = read_yaml("f.yaml", "http:\n  threads: 3\nlog:\n  level: warn\n");
  EXPECT_THAT(reading.problems, IsEmpty());
  ASSERT_EQ(reading.settings.size(), 2U);
  EXPECT_EQ(reading.settings[0].key->path(), "http.threads");
  EXPECT_EQ(reading.settings[0].value, FieldValue(std::int64_t{3}));
  EXPECT_EQ(reading.settings[0].origin, "f.yaml:2");
  EXPECT_EQ(reading.settings[1].origin, "f.yaml:4");
}

TEST(ReadYaml, takes_nothing_from_nothing) {
  for (const char* text :
       {"", "\n", "# only a comment\n", "---\n", "~", "http:\nslots: ~\n", "{}"}) {
    const SourceReading reading = read_yaml("f.yaml", text);
    EXPECT_THAT(reading.problems, IsEmpty()) << text;
    EXPECT_THAT(reading.settings, IsEmpty()) << text;
  }
}

TEST(ReadYaml, takes_auth_as_a_word_or_as_a_section) {
  EXPECT_EQ(read_yaml("f", "auth: none").settings.at(0).key->path(), "auth");
  EXPECT_EQ(read_yaml("f", "auth: {open-metrics: true}").settings.at(0).key->path(),
            "auth.open-metrics");
  EXPECT_EQ(read_yaml("f", "auth: off").problems.size(), 1U);
  EXPECT_EQ(read_yaml("f", "auth: [none]").problems.size(), 1U);
}

TEST(ReadYaml, survives_aliases_that_point_at_themselves) {
  EXPECT_THAT(read_yaml("f", "http: &h {tls: *h}").problems,
              ElementsAre("f:1: unknown key http.tls.tls; the nearest known key is http.tls"));
  EXPECT_THAT(read_yaml("f", "http: &h\n  listen: *h\n").problems.size(), 1U);
}

TEST(ReadYaml, survives_any_bytes) {
  for (const std::string& text :
       {std::string("\0\0a: 4", 6), std::string("\xff\xfe\xfd"), std::string(5'000, '['),
        std::string(5'000, '{'), std::string("a: \"x"), std::string("a: *nothing"),
        std::string("? {a: b}\n: c"), std::string("!!binary x")}) {
    EXPECT_TRUE(read_yaml("f", text).settings.empty());
  }
}

TEST(ReadEnvironment, takes_variables_by_the_path_of_their_key) {
  const std::vector<EnvironmentVariable> variables{{"PENSTOCK_SLOTS_MAX_DELAY", "PT1H"},
                                                   {"PENSTOCK_HTTP_TLS_KEY_FILE", "k.pem"},
                                                   {"HOME", "/root"}};
  const SourceReading reading = read_environment(variables);
  EXPECT_THAT(reading.problems, IsEmpty());
  ASSERT_EQ(reading.settings.size(), 2U);
  EXPECT_EQ(reading.settings[0].key->path(), "slots.max-delay");
  EXPECT_EQ(reading.settings[0].value, FieldValue(std::int64_t{3'600'000}));
  EXPECT_EQ(reading.settings[0].origin, "PENSTOCK_SLOTS_MAX_DELAY");
  EXPECT_EQ(reading.settings[1].key->path(), "http.tls.key-file");
}

TEST(ReadEnvironment, reports_unknown_names_and_bad_values) {
  const std::vector<EnvironmentVariable> variables{{"PENSTOCK_HTTP_LISTN", "127.0.0.1:1"},
                                                   {"PENSTOCK_HTTP_THREADS", "many"}};
  EXPECT_THAT(
      read_environment(variables).problems,
      ElementsAre("PENSTOCK_HTTP_LISTN: unknown environment variable; the nearest known one "
                  "is PENSTOCK_HTTP_LISTEN",
                  "PENSTOCK_HTTP_THREADS: http.threads must be a whole number from 0 to "
                  "1024, not \"many\""));
}

TEST(ReadEnvironment, leaves_alone_what_is_not_a_setting) {
  const std::vector<EnvironmentVariable> variables{
      {"PENSTOCK_BUILD", "b"},
      {"PENSTOCK_CACHE", "c"},
      {"PENSTOCK_URL", "u"},
      {"PENSTOCK_TOKEN", "t"},
      {"PENSTOCK_CONFIG", "f"},
      {"PENSTOCK_HTTP_LISTEN", ""},  // empty = not set
      {"PENSTOCKADE", "x"},
      // What Kubernetes adds for services named penstock and penstock-admin.
      {"PENSTOCK_SERVICE_HOST", "10.0.0.1"},
      {"PENSTOCK_SERVICE_PORT", "8080"},
      {"PENSTOCK_SERVICE_PORT_HTTP", "8080"},
      {"PENSTOCK_PORT", "tcp://10.0.0.1:8080"},
      {"PENSTOCK_PORT_8080_TCP", "tcp://10.0.0.1:8080"},
      {"PENSTOCK_PORT_8080_TCP_ADDR", "10.0.0.1"},
      {"PENSTOCK_ADMIN_PORT_8080_TCP_PROTO", "tcp"}};
  const SourceReading reading = read_environment(variables);
  EXPECT_THAT(reading.problems, IsEmpty());
  EXPECT_THAT(reading.settings, IsEmpty());
}

TEST(ReadEnvironment, still_reports_a_port_that_is_no_service_address) {
  const std::vector<EnvironmentVariable> variables{{"PENSTOCK_PORT", "8080"}};
  EXPECT_EQ(read_environment(variables).problems.size(), 1U);
}

TEST(ReadFlags, names_the_flag_in_problems) {
  const std::vector<FlagValue> flags{{find_key("http.listen"), "nowhere"}};
  EXPECT_THAT(read_flags(flags).problems,
              ElementsAre("--http: http.listen must be ADDR:PORT with an IP address, such as "
                          "127.0.0.1:8080 or [::1]:8080, not \"nowhere\""));
}

}  // namespace
}  // namespace penstock::daemon
