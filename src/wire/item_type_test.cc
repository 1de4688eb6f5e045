#include "wire/item_type.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace penstock::wire {
namespace {

using core::ItemTypeSettings;
using core::SinkType;

Result<ItemTypeSettings> decode_settings(std::string_view json, const ItemTypeSettings& base = {}) {
  const Result<JsonDocument> document = parse_json(json);
  EXPECT_TRUE(document) << document.error().what;
  return decode_item_type(document->root(), base);
}

std::string encode(const ItemTypeSettings& settings, Secrets secrets) {
  JsonWriter out;
  out.begin_object();
  encode_item_type_members(out, settings, secrets);
  out.end_object();
  return std::move(out).take();
}

constexpr std::string_view kFull =
    R"({"enabled":false,"batchSize":20,"dispatchIntervalSecs":1,"jitterWindowMs":0,)"
    R"("preStartBufferMins":3,"maxDispatchRetries":2,"staleClaimThresholdMins":4,"maxPerSecond":50,)"
    R"("burst":5,"retryBackoffMs":10,"retryBackoffMaxMs":100,"maxPauseSecs":9,)"
    R"("sink":{"type":"http","url":"https://pay/x","secrets":["0123456789abcdef"],"timeoutMs":700,)"
    R"("concurrency":8}})";

TEST(ItemTypeJson, is_read_and_written_back) {
  const Result<ItemTypeSettings> settings = decode_settings(kFull);
  ASSERT_TRUE(settings) << settings.error().what;
  EXPECT_EQ(settings->pre_start_buffer, std::chrono::minutes{3});
  EXPECT_EQ(settings->sink.timeout, Millis{700});
  EXPECT_EQ(encode(*settings, Secrets::shown), kFull);
}

TEST(ItemTypeJson, has_the_defaults_of_the_contract) {
  const Result<ItemTypeSettings> settings = decode_settings("{}");
  ASSERT_TRUE(settings);
  EXPECT_EQ(*settings, ItemTypeSettings{});
  EXPECT_EQ(settings->batch_size, 500);
  EXPECT_EQ(settings->jitter_window, Millis{4'000});
  EXPECT_EQ(settings->max_dispatch_retries, 5);
  EXPECT_EQ(settings->max_per_second, std::nullopt);
}

TEST(ItemTypeJson, names_a_sink_that_is_no_object) {
  const Result<ItemTypeSettings> settings = decode_settings(R"({"sink":"http"})");
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().field, "sink");
  EXPECT_EQ(settings.error().what, "sink: must be an object, not a string");
}

TEST(ItemTypeJson, counts_secrets_for_people) {
  const std::string text = encode(*decode_settings(kFull), Secrets::counted);
  EXPECT_EQ(text.find("0123456789abcdef"), std::string::npos);
  EXPECT_NE(text.find(R"("secrets":1)"), std::string::npos);
}

TEST(ItemTypeJson, shows_a_provider_of_messages_without_its_password) {
  const auto base = decode_settings(
      R"({"sink":{"type":"smpp","host":"smsc","systemId":"me","password":"s3cret","source":"Shop",)"
      R"("sourceTon":3,"receiptIds":"hex"}})");
  ASSERT_TRUE(base) << base.error().what;
  EXPECT_EQ(base->sink.smpp.port, 2'775);
  EXPECT_TRUE(base->sink.smpp.receipts);
  EXPECT_EQ(base->sink.smpp.receipt_ids, core::ReceiptIds::hex);
  const std::string shown = encode(*base, Secrets::counted);
  EXPECT_EQ(shown.find("s3cret"), std::string::npos);
  EXPECT_NE(shown.find(R"("hasPassword":true)"), std::string::npos);
  EXPECT_EQ(*decode_settings(encode(*base, Secrets::shown)), *base);
  const auto merged = decode_settings(R"({"sink":{"source":"Store","sourceTon":null}})", *base);
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->sink.smpp.password, "s3cret") << "what is not said stays";
  EXPECT_EQ(merged->sink.smpp.source_ton, std::nullopt);
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"sink":{"type":"smpp","systemId":"me"}})", "sink.host"},
      {R"({"sink":{"type":"smpp","host":"h"}})", "sink.systemId"},
      {R"({"sink":{"type":"smpp","host":"h","systemId":"0123456789abcdef"}})", "sink.systemId"},
      {R"({"sink":{"type":"smpp","host":"h","systemId":"me","port":70000}})", "sink.port"},
      {R"({"sink":{"type":"smpp","host":"h","systemId":"me","source":"a\u0000b"}})", "sink.source"},
      {R"({"sink":{"type":"smpp","host":"h","systemId":"me","sourceTon":7}})", "sink.sourceTon"},
      {R"({"sink":{"type":"smpp","host":"h","systemId":"me","receiptIds":"octal"}})",
       "sink.receiptIds"},
      {R"({"sink":{"type":"smpp","host":"h","systemId":"me","timeoutMs":0}})", "sink.timeoutMs"}};
  for (const auto& [text, field] : wrong) {
    const auto result = decode_settings(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().field, field);
  }
}

TEST(ItemTypeJson, drops_secrets_when_the_sink_points_elsewhere) {
  const auto smpp = decode_settings(
      R"({"sink":{"type":"smpp","host":"smsc","systemId":"me","password":"s3cret"}})");
  for (const char* elsewhere :
       {R"({"sink":{"host":"evil"}})", R"({"sink":{"port":3000}})",
        R"({"sink":{"host":"evil","password":null}})", R"({"sink":{"password":null}})"}) {
    EXPECT_EQ(decode_settings(elsewhere, *smpp)->sink.smpp.password, "") << elsewhere;
  }
  EXPECT_EQ(
      decode_settings(R"({"sink":{"host":"new","password":"other"}})", *smpp)->sink.smpp.password,
      "other");
  EXPECT_EQ(decode_settings(R"({"sink":{"host":"smsc","port":2775}})", *smpp)->sink.smpp.password,
            "s3cret")
      << "the same place again";
  const ItemTypeSettings http = *decode_settings(kFull);
  ASSERT_FALSE(http.sink.secrets.empty());
  for (const char* elsewhere :
       {R"({"sink":{"url":"http://evil/"}})", R"({"sink":{"url":"http://evil/","secrets":null}})",
        R"({"sink":{"secrets":null}})"}) {
    EXPECT_TRUE(decode_settings(elsewhere, http)->sink.secrets.empty()) << elsewhere;
  }
  EXPECT_EQ(decode_settings(R"({"sink":{"timeoutMs":500}})", http)->sink.secrets,
            http.sink.secrets);
  const auto extension =
      decode_settings(R"({"sink":{"type":"file","settings":{"path":"a"},"secrets":["x"]}})");
  ASSERT_TRUE(extension) << extension.error().what;
  EXPECT_TRUE(
      decode_settings(R"({"sink":{"settings":{"path":"b"}}})", *extension)->sink.secrets.empty());
}

TEST(ItemTypeJson, merges_into_what_is_there) {
  const ItemTypeSettings base = *decode_settings(kFull);
  const Result<ItemTypeSettings> merged =
      decode_settings(R"({"enabled":true,"maxPerSecond":null,"sink":{"timeoutMs":500}})", base);
  ASSERT_TRUE(merged) << merged.error().what;
  EXPECT_TRUE(merged->enabled);
  EXPECT_EQ(merged->max_per_second, std::nullopt);
  EXPECT_EQ(merged->burst, 5);
  EXPECT_EQ(merged->sink.timeout, Millis{500});
  EXPECT_EQ(merged->sink.url, base.sink.url);
  EXPECT_EQ(merged->sink.secrets.size(), 1U);
  const Result<ItemTypeSettings> other =
      decode_settings(R"({"sink":{"type":"kafka","topic":"t"}})", base);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->sink.type, SinkType::kafka);
  EXPECT_TRUE(other->sink.secrets.empty());
}

TEST(ItemTypeJson, keeps_what_an_extension_is_to_be_told) {
  const Result<ItemTypeSettings> settings = decode_settings(
      R"({"sink":{"type":"fax-2","settings":{"line": 7, "tone":[1.50]},"secrets":["pin"],"concurrency":3}})");
  ASSERT_TRUE(settings) << settings.error().what;
  EXPECT_EQ(settings->sink.type, SinkType::extension);
  EXPECT_EQ(settings->sink.extension, "fax-2");
  EXPECT_EQ(settings->sink.options, R"({"line": 7, "tone":[1.50]})");
  EXPECT_EQ(*decode_settings(encode(*settings, Secrets::shown)), *settings);
  const std::string shown = encode(*settings, Secrets::counted);
  EXPECT_NE(
      shown.find(R"("sink":{"type":"fax-2","settings":{"line": 7, "tone":[1.50]},"secrets":1)"),
      std::string::npos)
      << shown;
  const ItemTypeSettings merged = *decode_settings(R"({"sink":{"concurrency":4}})", *settings);
  EXPECT_EQ(merged.sink.options, settings->sink.options);
  const ItemTypeSettings other = *decode_settings(R"({"sink":{"type":"fax"}})", *settings);
  EXPECT_EQ(other.sink.extension, "fax");
  EXPECT_EQ(other.sink.options, "");
  EXPECT_FALSE(decode_settings(R"({"sink":{"type":"fax","settings":{"x":")" +
                               std::string(17'000, 'x') + R"("}}})"));
}

TEST(ItemTypeJson, names_the_field_at_fault) {
  const std::pair<std::string_view, std::string_view> bad[] = {
      {R"({"batchSize":0})", "batchSize"},
      {R"({"batchSize":"5"})", "batchSize"},
      {R"({"maxPerSecond":1.5})", "maxPerSecond"},
      {R"({"maxPerSecond":0})", "maxPerSecond"},
      {R"({"dispatchIntervalSecs":99999999999999})", "dispatchIntervalSecs"},
      {R"({"maxDispatchRetries":-1})", "maxDispatchRetries"},
      {R"({"retryBackoffMs":500,"retryBackoffMaxMs":100})", "retryBackoffMaxMs"},
      {R"({"enabled":1})", "enabled"},
      {R"({"sink":{"type":"Fax"}})", "sink.type"},
      {R"({"sink":{"type":"4x"}})", "sink.type"},
      {R"({"sink":{"type":""}})", "sink.type"},
      {R"({"sink":{"type":"fax","settings":[]}})", "sink.settings"},
      {R"({"sink":{"type":"log","settings":[]}})", "sink.settings"},
      {R"({"sink":{"type":"log","host":5}})", "sink.host"},
      {R"({"sink":{"type":"fax","timeoutMs":0}})", "sink.timeoutMs"},
      {R"({"sink":{"type":"fax","secrets":[""]}})", "sink.secrets"},
      {R"({"sink":{"type":"http"}})", "sink.url"},
      {R"({"sink":{"type":"http","url":"ftp://x"}})", "sink.url"},
      {R"({"sink":{"type":"http","url":"http://x/#y"}})", "sink.url"},
      {R"({"sink":{"type":"http","url":"http://x","secrets":["short"]}})", "sink.secrets"},
      {R"({"sink":{"type":"http","url":"http://x","secrets":["whsec_not base64"]}})",
       "sink.secrets"},
      {R"({"sink":{"type":"http","url":"http://x","secrets":[1]}})", "sink.secrets"},
      {R"({"sink":{"type":"http","url":"http://x","concurrency":0}})", "sink.concurrency"},
      {R"({"sink":{"type":"kafka"}})", "sink.topic"},
      {R"({"sink":{"type":"temporal","workflowType":"w"}})", "sink.taskQueue"},
  };
  for (const auto& [json, field] : bad) {
    const Result<ItemTypeSettings> settings = decode_settings(json);
    ASSERT_FALSE(settings) << json;
    EXPECT_EQ(settings.error().field, field) << json;
    EXPECT_NE(settings.error().what.find(field), std::string::npos) << settings.error().what;
  }
  EXPECT_FALSE(decode_settings("[]"));
}

}  // namespace
}  // namespace penstock::wire
