// The settings of an item type, as the API contract has them. Each kind of sink:
// sink/kinds_test.cc.
#include "core/dispatch/item_type.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "wire/described.h"

namespace penstock::wire {
namespace {

using core::ItemTypeSettings;

Result<ItemTypeSettings> decode_settings(std::string_view json, ItemTypeSettings settings = {}) {
  const Result<JsonDocument> document = parse_json(json);
  EXPECT_TRUE(document) << document.error().what;
  PENSTOCK_TRY(read_record(settings, document->root()));
  return settings;
}

constexpr std::string_view kFull =
    R"({"enabled":false,"batchSize":20,"dispatchIntervalSecs":1,"jitterWindowMs":0,)"
    R"("preStartBufferMins":3,"maxDispatchRetries":2,"staleClaimThresholdMins":4,"maxPerSecond":50,)"
    R"("burst":5,"retryBackoffMs":10,"retryBackoffMaxMs":100,"maxPauseSecs":9,)"
    R"("sink":{"type":"fax","line":7}})";

TEST(ItemTypeJson, is_read_and_written_back) {
  const Result<ItemTypeSettings> settings = decode_settings(kFull);
  ASSERT_TRUE(settings) << settings.error().what;
  EXPECT_EQ(settings->pre_start_buffer, std::chrono::minutes{3});
  EXPECT_EQ(settings->sink.kind, "fax");
  EXPECT_EQ(to_document(*settings), kFull);
  EXPECT_EQ(*from_document<ItemTypeSettings>(kFull), *settings);
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

TEST(ItemTypeJson, merges_into_what_is_there) {
  const ItemTypeSettings base = *decode_settings(kFull);
  const Result<ItemTypeSettings> merged =
      decode_settings(R"({"enabled":true,"maxPerSecond":null,"batchSize":null})", base);
  ASSERT_TRUE(merged) << merged.error().what;
  EXPECT_TRUE(merged->enabled);
  EXPECT_EQ(merged->max_per_second, std::nullopt);
  EXPECT_EQ(merged->batch_size, 20);
  EXPECT_EQ(merged->burst, 5);
  EXPECT_EQ(merged->sink, base.sink);
}

TEST(ItemTypeJson, names_the_field_at_fault) {
  const std::pair<std::string_view, std::string_view> bad[] = {
      {R"({"batchSize":0})", "batchSize"},
      {R"({"batchSize":"5"})", "batchSize"},
      {R"({"batchSiz":5})", "batchSiz"},
      {R"({"maxPerSecond":1.5})", "maxPerSecond"},
      {R"({"maxPerSecond":0})", "maxPerSecond"},
      {R"({"dispatchIntervalSecs":99999999999999})", "dispatchIntervalSecs"},
      {R"({"maxDispatchRetries":-1})", "maxDispatchRetries"},
      {R"({"maxDispatchRetries":4294967297})", "maxDispatchRetries"},
      {R"({"retryBackoffMs":500,"retryBackoffMaxMs":100})", "retryBackoffMaxMs"},
      {R"({"enabled":1})", "enabled"},
      {R"({"sink":"http"})", "sink"},
      {R"({"sink":{"type":7}})", "sink.type"},
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
