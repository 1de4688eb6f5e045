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

}  // namespace
}  // namespace penstock::sink
