#include "wire/item_type.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock::wire {
namespace {

using core::ItemTypeSettings;
using core::SinkType;

Result<ItemTypeSettings> decode(std::string_view json, const ItemTypeSettings& base = {}) {
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
  const Result<ItemTypeSettings> settings = decode(kFull);
  ASSERT_TRUE(settings) << settings.error().what;
  EXPECT_EQ(settings->pre_start_buffer, std::chrono::minutes{3});
  EXPECT_EQ(settings->sink.timeout, Millis{700});
  EXPECT_EQ(encode(*settings, Secrets::shown), kFull);
}

TEST(ItemTypeJson, has_the_defaults_of_the_contract) {
  const Result<ItemTypeSettings> settings = decode("{}");
  ASSERT_TRUE(settings);
  EXPECT_EQ(*settings, ItemTypeSettings{});
  EXPECT_EQ(settings->batch_size, 500);
  EXPECT_EQ(settings->jitter_window, Millis{4'000});
  EXPECT_EQ(settings->max_dispatch_retries, 5);
  EXPECT_EQ(settings->max_per_second, std::nullopt);
}

TEST(ItemTypeJson, names_a_sink_that_is_no_object) {
  const Result<ItemTypeSettings> settings = decode(R"({"sink":"http"})");
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().field, "sink");
  EXPECT_EQ(settings.error().what, "sink: must be an object, not a string");
}

TEST(ItemTypeJson, counts_secrets_for_people) {
  const std::string text = encode(*decode(kFull), Secrets::counted);
  EXPECT_EQ(text.find("0123456789abcdef"), std::string::npos);
  EXPECT_NE(text.find(R"("secrets":1)"), std::string::npos);
}

TEST(ItemTypeJson, merges_into_what_is_there) {
  const ItemTypeSettings base = *decode(kFull);
  const Result<ItemTypeSettings> merged =
      decode(R"({"enabled":true,"maxPerSecond":null,"sink":{"url":"http://other"}})", base);
  ASSERT_TRUE(merged) << merged.error().what;
  EXPECT_TRUE(merged->enabled);
  EXPECT_EQ(merged->max_per_second, std::nullopt);
  EXPECT_EQ(merged->burst, 5);
  EXPECT_EQ(merged->sink.url, "http://other");
  EXPECT_EQ(merged->sink.secrets.size(), 1U);
  const Result<ItemTypeSettings> other = decode(R"({"sink":{"type":"kafka","topic":"t"}})", base);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->sink.type, SinkType::kafka);
  EXPECT_TRUE(other->sink.secrets.empty());
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
      {R"({"sink":{"type":"fax"}})", "sink.type"},
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
    const Result<ItemTypeSettings> settings = decode(json);
    ASSERT_FALSE(settings) << json;
    EXPECT_EQ(settings.error().field, field) << json;
    EXPECT_NE(settings.error().what.find(field), std::string::npos) << settings.error().what;
  }
  EXPECT_FALSE(decode("[]"));
}

}  // namespace
}  // namespace penstock::wire
