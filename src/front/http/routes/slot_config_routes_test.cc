// Slot configs: their status, body, headers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "front/http/routes/test_slot_routes.h"

namespace penstock::front {
namespace {

using testing::_;
using testing::Return;

constexpr std::string_view kPaymentsConfig =
    R"({"configName":"payments","maxPerWindow":100,"windowSize":"PT4S","pool":"bank",)"
    R"("version":3,"active":true,"effectiveFrom":"2025-06-01T12:00:00.000Z"})";

TEST_F(SlotRoutesTest, tell_a_config) {
  EXPECT_EQ(get_config("name=payments").body, kPaymentsConfig);
  EXPECT_NE(get_config("").body.find(R"("configName":"default")"), std::string::npos);
  const Response missing = get_config("name=nope");
  EXPECT_EQ(missing.body, slot_error_body(404, "Not Found", "there is no slot config named nope"));
  expect_bad(get_config("name=a%20b"), "name", "must be printable ASCII without spaces");
}

TEST_F(SlotRoutesTest, change_a_config) {
  EXPECT_CALL(configs_, put(_, _)).WillOnce([](const core::SlotConfigDraft& draft, auto) {
    EXPECT_EQ(draft.pool.str(), "payments");
    EXPECT_EQ(draft.window_size, Seconds{4});
    return store::SlotConfigChange{slot_config(draft.name), std::nullopt};
  });
  const Response response =
      post_config(R"({"configName":"payments","maxPerWindow":100,"windowSizeSecs":4})");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, kPaymentsConfig);
}

TEST_F(SlotRoutesTest, merge_into_a_config) {
  const auto patch = [this](std::string query, std::string body) {
    return send(Method::patch, "/admin/rate-limit/config",
                {.body = std::move(body), .query = std::move(query)});
  };
  EXPECT_CALL(configs_, put(_, _)).WillOnce([](const core::SlotConfigDraft& draft, auto) {
    EXPECT_EQ(draft.max_per_window, 7);
    EXPECT_EQ(draft.pool.str(), "bank");
    EXPECT_EQ(draft.window_size, Seconds{4});
    return store::SlotConfigChange{slot_config(draft.name), std::nullopt};
  });
  EXPECT_EQ(patch("name=payments", R"({"maxPerWindow":7})").body, kPaymentsConfig);
  EXPECT_EQ(patch("name=nope", R"({"maxPerWindow":7})").status, 404);
  EXPECT_EQ(patch("name=payments", R"({"configName":"other"})").status, 400);
  EXPECT_EQ(patch("name=payments", "nope").status, 400);
}

TEST_F(SlotRoutesTest, refuse_a_config_that_is_malformed_or_in_conflict) {
  expect_bad(post_config(R"({"configName":"c","maxPerWindow":1.5,"windowSize":"PT4S"})"),
             "maxPerWindow", "must be a whole number within 64 bits");
  expect_bad(post_config(R"({"configName":"c","maxPerWindow":0,"windowSize":"PT4S"})"),
             "maxPerWindow", "must be from 1 to 10000000");
  EXPECT_EQ(post_config("nope").status, 400);
  EXPECT_CALL(configs_, put(_, _)).WillOnce(Return(fail(ErrorKind::conflict, "in use")));
  const Response conflict =
      post_config(R"({"configName":"c","maxPerWindow":1,"windowSize":"PT4S"})");
  EXPECT_EQ(conflict.status, 409);
  EXPECT_EQ(conflict.body, slot_error_body(409, "Conflict", "in use"));
}

TEST_F(SlotRoutesTest, tell_the_history_of_a_config) {
  const auto get = [this](std::string query) {
    return send(Method::get, "/admin/rate-limit/config/history", {.query = std::move(query)});
  };
  const core::SlotConfig version = slot_config(ConfigName::trusted("payments"));
  EXPECT_CALL(configs_, history(version.name, _))
      .WillOnce(Return(std::vector<core::SlotConfig>{version, version}))
      .WillOnce(Return(std::vector<core::SlotConfig>{}));
  const std::string one(kPaymentsConfig);
  EXPECT_EQ(get("name=payments").body, "[" + one + "," + one + "]");
  EXPECT_EQ(get("name=payments").status, 404);
  expect_bad(get("name=%"), "name", "is not well percent-encoded");
}

TEST_F(SlotRoutesTest, flush_the_config_cache) {
  EXPECT_CALL(configs_, find(_)).Times(2);
  EXPECT_EQ(get_config("").status, 200);
  EXPECT_EQ(get_config("").status, 200);
  const Response response = send(Method::post, "/admin/rate-limit/cache/flush", {});
  EXPECT_EQ(response.status, 204);
  EXPECT_EQ(response.body, "");
  EXPECT_EQ(get_config("").status, 200);
}

TEST_F(SlotRoutesTest, list_the_configs_in_pages) {
  EXPECT_CALL(configs_, list(ConfigName::trusted("a"), 2))
      .WillOnce(Return(std::vector{slot_config(ConfigName::trusted("b")),
                                   slot_config(ConfigName::trusted("c"))}));
  const Response response =
      send(Method::get, "/admin/rate-limit/configs", {.query = "limit=1&after=a"});
  EXPECT_EQ(response.status, 200);
  EXPECT_NE(response.body.find(R"([{"configName":"b")"), std::string::npos) << response.body;
  EXPECT_EQ(response.body.find(R"("configName":"c")"), std::string::npos) << response.body;
  ASSERT_EQ(response.headers.size(), 1U);
  EXPECT_EQ(response.headers[0].second,
            "</admin/rate-limit/configs?limit=1&after=b>; rel=\"next\"");
}

}  // namespace
}  // namespace penstock::front
