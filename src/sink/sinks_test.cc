#include "sink/sinks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::sink {
namespace {

using core::SinkType;

TEST(MakeSink, makes_each_kind_that_this_build_has) {
  const SimulatedClock clock{Instant{}};
  Log log(clock, 2, LogLevel::off, LogFormat::text);
  const auto http = HttpClient::make(clock, {});
  ASSERT_TRUE(http) << http.error().what;
  SinkContext context{.log = log, .http = **http};
  EXPECT_TRUE(make_sink({.type = SinkType::log}, context));
  EXPECT_TRUE(make_sink({.type = SinkType::http, .url = "http://localhost/"}, context));
  const auto no_url = make_sink({.type = SinkType::http, .url = "localhost"}, context);
  ASSERT_FALSE(no_url);
  EXPECT_EQ(no_url.error().field, "sink.url");
}

TEST(MakeSink, says_which_setting_it_lacks) {
  const SimulatedClock clock{Instant{}};
  Log log(clock, 2, LogLevel::off, LogFormat::text);
  const auto http = HttpClient::make(clock, {});
  ASSERT_TRUE(http) << http.error().what;
  SinkContext context{.log = log, .http = **http};
  for (const auto& [type, setting] : {std::pair{SinkType::kafka, "kafka.brokers"},
                                      std::pair{SinkType::temporal, "temporal.address"}}) {
    const auto none = make_sink({.type = type}, context);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ErrorKind::invalid);
    EXPECT_EQ(none.error().field, "sink.type");
    EXPECT_THAT(none.error().what, testing::HasSubstr(setting));
  }
}

class NoSink final : public Sink {
 public:
  void send(Handover&&, Done done) override { done({}); }
};

Result<void> check_line(const core::SinkSettings& settings) {
  if (settings.options == "{}") return invalid_field("sink.settings.line", "is missing");
  return {};
}

Result<std::unique_ptr<Sink>> open_none(const core::SinkSettings&, Log&) {
  return std::make_unique<NoSink>();
}

TEST(MakeSink, makes_what_was_compiled_in_from_outside) {
  const SimulatedClock clock{Instant{}};
  Log log(clock, 2, LogLevel::off, LogFormat::text);
  const auto http = HttpClient::make(clock, {});
  ASSERT_TRUE(http) << http.error().what;
  const SinkExtension extensions[] = {{.name = "fax", .check = check_line, .open = open_none},
                                      {.name = "pigeon", .open = open_none}};
  SinkContext context{.log = log, .http = **http, .extensions = extensions};
  const auto asked = [](std::string name, std::string options) {
    return core::SinkSettings{
        .type = SinkType::extension, .extension = std::move(name), .options = std::move(options)};
  };
  EXPECT_TRUE(make_sink(asked("fax", R"({"line": 7})"), context));
  EXPECT_TRUE(make_sink(asked("pigeon", ""), context));
  const auto no_line = make_sink(asked("fax", "{}"), context);
  ASSERT_FALSE(no_line);
  EXPECT_EQ(no_line.error().field, "sink.settings.line");
  const auto unknown = make_sink(asked("telex", ""), context);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().field, "sink.type");
  EXPECT_THAT(unknown.error().what, testing::HasSubstr("temporal, fax, pigeon"));
}

}  // namespace
}  // namespace penstock::sink
