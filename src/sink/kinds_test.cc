#include "sink/kinds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "sink/extension.h"
#include "sink/http/http_client.h"
#include "sink/kafka/kafka.h"
#include "sink/log/log_sink.h"
#include "sink/smpp/smpp_client.h"
#include "sink/temporal/temporal_client.h"
#include "wire/described.h"

namespace penstock::sink {

struct FaxLine {
  std::int64_t line = 0;
};

}  // namespace penstock::sink

template <>
struct penstock::Description<penstock::sink::FaxLine> {
  using Settings = penstock::sink::FaxLine;
  static constexpr std::string_view name = "FaxLine";
  static constexpr std::array fields = {
      required(range(field<&Settings::line>("line", "The line."), 0, 999))};
  static Result<void> rule(const Settings& settings) {
    if (settings.line != 13) return {};
    return invalid_field("line", "is unlucky");
  }
};

namespace penstock::sink {
namespace {

using testing::HasSubstr;
using wire::Secrets;

class NoSink final : public Sink {
 public:
  void send(Handover&&, Done done) override { done({}); }
};

// As the daemon has them; what is not here is not needed to read settings.
class SinkKindsTest : public testing::Test {
 protected:
  Result<core::ItemTypeSettings> read(std::string_view sink,
                                      const core::ItemTypeSettings& base = {}) {
    const std::string text = R"({"sink":)" + std::string(sink) + "}";
    const Result<wire::JsonDocument> document = wire::parse_json(text);
    EXPECT_TRUE(document) << document.error().what;
    core::ItemTypeSettings settings = base;
    PENSTOCK_TRY(wire::read_record(settings, document->root(), {.kinds = kinds_.infos()}));
    return settings;
  }
  std::string field_at_fault(std::string_view sink) {
    const Result<core::ItemTypeSettings> settings = read(sink);
    return settings ? "none" : settings.error().field;
  }
  std::string shown(const core::ItemTypeSettings& settings) {
    wire::JsonWriter out;
    out.begin_object();
    wire::write_members(out, settings, Secrets::counted, kinds_.infos());
    out.end_object();
    const std::string text = std::move(out).take();
    return text.substr(text.find(R"("sink":)") + 7, text.size() - text.find(R"("sink":)") - 8);
  }

  const SimulatedClock clock_{Instant{}};
  Log log_{clock_, 2, LogLevel::off, LogFormat::text};
  const std::unique_ptr<HttpClient> http_ = std::move(*HttpClient::make(clock_, {}));
  const SinkKinds kinds_{{log_kind(&log_), http_kind(http_.get()), kafka_kind(nullptr),
                          temporal_kind(nullptr), smpp_kind(nullptr),
                          extension<FaxLine>("fax", [](const Extended<FaxLine>&) {
                            return std::make_unique<NoSink>();
                          })}};
};

TEST_F(SinkKindsTest, open_a_sink_of_each_kind) {
  EXPECT_TRUE(kinds_.open({.kind = "log", .document = "{}"}));
  EXPECT_TRUE(kinds_.open(read(R"({"type":"http","url":"http://localhost/"})")->sink));
  EXPECT_TRUE(kinds_.open(read(R"({"type":"fax","settings":{"line":7}})")->sink));
  const auto damaged = kinds_.open({.kind = "http", .document = R"({"url":"localhost"})"});
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().kind, ErrorKind::corrupt);
}

TEST_F(SinkKindsTest, say_which_setting_the_daemon_lacks) {
  const std::pair<const char*, const char*> lacking[] = {
      {R"({"type":"kafka","topic":"t"})", "kafka.brokers"},
      {R"({"type":"temporal","workflowType":"w","taskQueue":"q"})", "temporal.address"}};
  for (const auto& [sink, setting] : lacking) {
    const auto none = kinds_.open(read(sink)->sink);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ErrorKind::invalid);
    EXPECT_EQ(none.error().field, "sink.type");
    EXPECT_THAT(none.error().what, HasSubstr(setting));
  }
}

TEST_F(SinkKindsTest, refuse_a_kind_that_is_not_here_and_name_those_that_are) {
  for (const auto& refused : {read(R"({"type":"telex"})").error(),
                              kinds_.open({.kind = "telex", .document = "{}"}).error(),
                              kinds_.traits({.kind = "telex", .document = "{}"}).error()}) {
    EXPECT_EQ(refused.field, "sink.type");
    EXPECT_EQ(refused.what,
              "sink.type: is telex, and this build has log, http, kafka, temporal, smpp, fax");
  }
}

TEST_F(SinkKindsTest, tell_dispatch_what_it_has_to_know) {
  const auto of = [&](std::string_view sink) { return *kinds_.traits(read(sink)->sink); };
  EXPECT_GE(of(R"({"type":"log"})").concurrency, 10'000U);
  EXPECT_EQ(of(R"({"type":"http","url":"http://x","concurrency":3})").concurrency, 3U);
  EXPECT_TRUE(of(R"({"type":"temporal","workflowType":"w","taskQueue":"q"})").delays);
  EXPECT_TRUE(of(R"({"type":"smpp","host":"h","systemId":"me"})").stays_open);
  const auto place = kinds_.place(read(R"({"type":"http","url":"https://pay:8443/x"})")->sink);
  ASSERT_TRUE(place && *place);
  EXPECT_EQ((*place)->host, "pay");
  EXPECT_EQ((*place)->port, 8'443);
  EXPECT_TRUE((*place)->tls);
  EXPECT_FALSE(kinds_.place(read(R"({"type":"log"})")->sink));
}

// The members of each kind, as the API has had them from the beginning.
TEST_F(SinkKindsTest, show_all_but_secrets) {
  const std::pair<std::string_view, std::string_view> kinds[] = {
      {R"({"type":"log"})", R"({"type":"log"})"},
      {R"({"type":"http","url":"https://pay/x","secrets":["0123456789abcdef"],"timeoutMs":700})",
       R"({"type":"http","url":"https://pay/x","secrets":1,"timeoutMs":700,"concurrency":32})"},
      {R"({"type":"kafka","topic":"t"})", R"({"type":"kafka","topic":"t"})"},
      {R"({"type":"temporal","workflowType":"w","taskQueue":"q"})",
       R"({"type":"temporal","workflowType":"w","taskQueue":"q","concurrency":32})"},
      {R"({"type":"smpp","host":"smsc","systemId":"me","password":"s3cret","sourceTon":3})",
       R"({"type":"smpp","host":"smsc","port":2775,"systemId":"me","hasPassword":true,)"
       R"("systemType":"","source":"","sourceTon":3,"sourceNpi":null,"receipts":true,)"
       R"("receiptIds":"same","timeoutMs":10000,"concurrency":32})"},
      {R"({"type":"fax","settings":{"line":7},"secrets":["pin"],"concurrency":3})",
       R"({"type":"fax","settings":{"line":7},"secrets":1,"timeoutMs":10000,"concurrency":3})"}};
  for (const auto& [sink, expected] : kinds) {
    const Result<core::ItemTypeSettings> settings = read(sink);
    ASSERT_TRUE(settings) << settings.error().what;
    EXPECT_EQ(shown(*settings), expected);
    const auto back = wire::from_document<core::ItemTypeSettings>(wire::to_document(*settings));
    ASSERT_TRUE(back) << back.error().what;
    EXPECT_EQ(*back, *settings);
  }
}

TEST_F(SinkKindsTest, name_the_field_at_fault) {
  const std::pair<std::string_view, std::string_view> bad[] = {
      {R"({"type":"log","settings":[]})", "sink.settings"},
      {R"({"type":"log","host":5})", "sink.host"},
      {R"({"type":"http"})", "sink.url"},
      {R"({"type":"http","url":"ftp://x"})", "sink.url"},
      {R"({"type":"http","url":"http://x/#y"})", "sink.url"},
      {R"({"type":"http","url":"http://x","secrets":["short"]})", "sink.secrets"},
      {R"({"type":"http","url":"http://x","secrets":["whsec_not base64"]})", "sink.secrets"},
      {R"({"type":"http","url":"http://x","secrets":[1]})", "sink.secrets"},
      {R"({"type":"http","url":"http://x","concurrency":0})", "sink.concurrency"},
      {R"({"type":"kafka"})", "sink.topic"},
      {R"({"type":"temporal","workflowType":"w"})", "sink.taskQueue"},
      {R"({"type":"smpp","systemId":"me"})", "sink.host"},
      {R"({"type":"smpp","host":"h"})", "sink.systemId"},
      {R"({"type":"smpp","host":"h","systemId":"0123456789abcdef"})", "sink.systemId"},
      {R"({"type":"smpp","host":"h","systemId":"me","port":70000})", "sink.port"},
      {R"({"type":"smpp","host":"h","systemId":"me","source":"a\u0000b"})", "sink.source"},
      {R"({"type":"smpp","host":"h","systemId":"me","sourceTon":7})", "sink.sourceTon"},
      {R"({"type":"smpp","host":"h","systemId":"me","receiptIds":"octal"})", "sink.receiptIds"},
      {R"({"type":"smpp","host":"h","systemId":"me","timeoutMs":0})", "sink.timeoutMs"},
      {R"({"type":"fax","settings":[]})", "sink.settings"},
      {R"({"type":"fax","settings":{"line":1000}})", "sink.settings.line"},
      {R"({"type":"fax","settings":{"line":13}})", "sink.settings.line"},
      {R"({"type":"fax","settings":{"wire":1}})", "sink.settings.wire"},
      {R"({"type":"fax","timeoutMs":0})", "sink.timeoutMs"},
      {R"({"type":"fax","secrets":[""]})", "sink.secrets"},
      {R"({"type":"Fax"})", "sink.type"},
      {R"({"type":""})", "sink.type"}};
  for (const auto& [sink, field] : bad) EXPECT_EQ(field_at_fault(sink), field) << sink;
}

TEST_F(SinkKindsTest, merge_and_drop_secrets_that_were_meant_for_another_place) {
  const core::ItemTypeSettings smpp =
      *read(R"({"type":"smpp","host":"smsc","systemId":"me","password":"s3cret","sourceTon":3})");
  const auto has_password = [&](std::string_view change) {
    return shown(*read(change, smpp)).find(R"("hasPassword":true)") != std::string::npos;
  };
  EXPECT_TRUE(has_password(R"({"source":"Store","sourceTon":null})"));
  EXPECT_TRUE(has_password(R"({"host":"smsc","port":2775})")) << "the same place again";
  EXPECT_TRUE(has_password(R"({"host":"new","password":"other"})"));
  EXPECT_FALSE(has_password(R"({"host":"evil"})"));
  EXPECT_FALSE(has_password(R"({"port":3000})"));
  EXPECT_FALSE(has_password(R"({"host":"evil","password":null})"));
  EXPECT_FALSE(has_password(R"({"password":null})"));

  const core::ItemTypeSettings http =
      *read(R"({"type":"http","url":"https://pay/","secrets":["0123456789abcdef"]})");
  const auto secrets = [&](std::string_view change, const core::ItemTypeSettings& base) {
    return shown(*read(change, base)).find(R"("secrets":1)") != std::string::npos;
  };
  EXPECT_TRUE(secrets(R"({"timeoutMs":500})", http));
  EXPECT_FALSE(secrets(R"({"url":"http://evil/"})", http));
  EXPECT_FALSE(secrets(R"({"url":"http://evil/","secrets":null})", http));
  EXPECT_FALSE(secrets(R"({"secrets":null})", http));
  EXPECT_EQ(shown(*read(R"({"type":"kafka","topic":"t"})", http)),
            R"({"type":"kafka","topic":"t"})");

  const core::ItemTypeSettings fax =
      *read(R"({"type":"fax","settings":{"line":7},"secrets":["pin"]})");
  EXPECT_TRUE(secrets(R"({"concurrency":4})", fax));
  EXPECT_FALSE(secrets(R"({"settings":{"line":8}})", fax));
}

}  // namespace
}  // namespace penstock::sink
