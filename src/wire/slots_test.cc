#include "wire/slots.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/iso8601.h"
#include "base/test_instants.h"
#include "wire/described.h"

namespace penstock::wire {
namespace {

template <class T>
Result<T> decode(std::string_view json, Result<T> (*decoder)(JsonValue)) {
  const auto document = parse_json(json);
  EXPECT_TRUE(document) << json;
  return decoder(document->root());
}

// The error as "field|what".
template <class T>
std::string refusal_of(std::string_view json, Result<T> (*decoder)(JsonValue)) {
  const Result<T> decoded = decode(json, decoder);
  if (decoded) return "accepted";
  EXPECT_EQ(decoded.error().kind, ErrorKind::invalid);
  return decoded.error().field + "|" + decoded.error().what;
}

std::string refusal_of_call(std::string_view json) { return refusal_of(json, decode_slot_call); }
Result<core::SlotConfigDraft> decode_config(JsonValue value) { return decode_slot_config(value); }
std::string refusal_of_config(std::string_view json) { return refusal_of(json, decode_config); }

TEST(SlotCall, is_decoded_with_all_its_fields) {
  const auto call = decode(
      R"({"eventId":"E-1","configName":"payments","requestedTime":"2025-06-01T14:00:00.1239+02:00",)"
      R"("maxDelay":"PT1H","ttl":null,"note":{"eventId":"other"}})",
      decode_slot_call);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->event, EventId::trusted("E-1"));
  EXPECT_EQ(call->config_name, ConfigName::trusted("payments"));
  EXPECT_EQ(call->requested, kNoon + Millis{123});
  EXPECT_EQ(call->max_delay, Millis{3'600'000});
}

TEST(SlotCall, may_leave_out_what_has_a_default) {
  for (
      const std::string_view json :
      {R"({"eventId":"E","requestedTime":"2025-06-01T12:00:00Z"})",
       R"({"eventId":"E","requestedTime":"2025-06-01T12:00:00Z","configName":null,"maxDelay":null})"}) {
    const auto call = decode(json, decode_slot_call);
    ASSERT_TRUE(call) << json;
    EXPECT_TRUE(call->config_name.empty());
    EXPECT_EQ(call->max_delay, std::nullopt);
  }
}

TEST(SlotCall, may_search_from_no_delay_to_a_leap_year) {
  for (const auto& [text, delay] : std::vector<std::pair<std::string, Millis>>{
           {"PT0S", Millis{0}}, {"PT0.001S", Millis{1}}, {"P366D", std::chrono::days{366}}}) {
    const auto call = decode(
        R"({"eventId":"E","requestedTime":"2025-06-01T12:00:00Z","maxDelay":")" + text + "\"}",
        decode_slot_call);
    ASSERT_TRUE(call) << text;
    EXPECT_EQ(call->max_delay, delay);
  }
}

TEST(SlotCall, is_refused_naming_the_field) {
  const std::string at = R"(,"requestedTime":"2025-06-01T12:00:00Z")";
  EXPECT_EQ(refusal_of_call("[]"), "|the request must be an object, not an array");
  EXPECT_EQ(refusal_of_call("{}"), "eventId|eventId: is required");
  EXPECT_EQ(refusal_of_call(R"({"eventId":5)" + at + "}"),
            "eventId|eventId: must be a string, not a number");
  EXPECT_EQ(refusal_of_call(R"({"eventId":"")" + at + "}"), "eventId|eventId: must not be empty");
  EXPECT_EQ(refusal_of_call(R"({"eventId":"a b")" + at + "}"),
            "eventId|eventId: must be printable ASCII without spaces");
  EXPECT_EQ(refusal_of_call(R"({"eventId":"E","configName":"")" + at + "}"),
            "configName|configName: must not be empty");
  EXPECT_EQ(refusal_of_call(R"({"eventId":"E","configName":7)" + at + "}"),
            "configName|configName: must be a string, not a number");
  EXPECT_EQ(refusal_of_call(R"({"eventId":"E"})"), "requestedTime|requestedTime: is required");
  EXPECT_EQ(refusal_of_call(R"({"eventId":"E","requestedTime":1748779200000})"),
            "requestedTime|requestedTime: must be a string, not a number");
  EXPECT_EQ(refusal_of_call(R"({"eventId":"E","requestedTime":"2025-06-01T12:00:00"})"),
            "requestedTime|requestedTime: must be an ISO-8601 instant with offset, like "
            "2025-06-01T12:00:00Z");
  EXPECT_EQ(refusal_of_call(R"({"eventId":"E","maxDelay":"1h")" + at + "}"),
            "maxDelay|maxDelay: must be an ISO-8601 duration without years and months, like PT4S, "
            "PT0.5S or P1D");
  EXPECT_EQ(refusal_of_call(R"({"eventId":"E","maxDelay":60)" + at + "}"),
            "maxDelay|maxDelay: must be a string, not a number");
  EXPECT_EQ(refusal_of_call(R"({"eventId":"E","maxDelay":"P366DT0.001S")" + at + "}"),
            "maxDelay|maxDelay: must be at most " + format_duration(core::kMaxDelayMax));
}

TEST(SlotConfigDraftJson, is_decoded_with_all_its_fields) {
  const auto draft =
      decode(R"({"configName":"payments","maxPerWindow":100,"windowSize":"PT4S","pool":"bank"})",
             decode_config);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->name, ConfigName::trusted("payments"));
  EXPECT_EQ(draft->pool, PoolName::trusted("bank"));
  EXPECT_EQ(draft->max_per_window, 100);
  EXPECT_EQ(draft->window_size, Millis{4'000});
}

TEST(SlotConfigDraftJson, has_a_pool_of_its_own_name_unless_it_says) {
  for (const std::string_view pool : {"", R"(,"pool":null)"}) {
    const auto draft = decode(
        R"({"configName":"c","maxPerWindow":1,"windowSize":"PT4S")" + std::string(pool) + "}",
        decode_config);
    ASSERT_TRUE(draft);
    EXPECT_EQ(draft->pool, PoolName::trusted("c"));
  }
}

TEST(SlotConfigDraftJson, takes_the_window_size_in_seconds_too) {
  for (const auto& [secs, size] : std::vector<std::pair<std::string, Millis>>{
           {"1", Millis{1'000}}, {"4", Millis{4'000}}, {"86400", std::chrono::days{1}}}) {
    const auto draft = decode(
        R"({"configName":"c","maxPerWindow":1,"windowSize":null,"windowSizeSecs":)" + secs + "}",
        decode_config);
    ASSERT_TRUE(draft) << secs;
    EXPECT_EQ(draft->window_size, size);
  }
}

TEST(SlotConfigDraftJson, takes_the_limits_of_its_ranges) {
  for (const std::string_view json :
       {R"({"configName":"c","maxPerWindow":1,"windowSize":"PT0.001S"})",
        R"({"configName":"c","maxPerWindow":10000000,"windowSize":"P1D"})"}) {
    EXPECT_TRUE(decode(json, decode_config)) << json;
  }
}

TEST(SlotConfigDraftJson, is_refused_naming_the_field) {
  const std::string size = R"(,"windowSize":"PT4S"})";
  EXPECT_EQ(refusal_of_config("5"), "|the request must be an object, not a number");
  EXPECT_EQ(refusal_of_config(R"({"configName":"c","maxPerWindows":1)" + size),
            "maxPerWindows|maxPerWindows: is unknown; did you mean maxPerWindow?");
  EXPECT_EQ(refusal_of_config(R"({"maxPerWindow":1)" + size), "configName|configName: is required");
  EXPECT_EQ(refusal_of_config(R"({"configName":"a b","maxPerWindow":1)" + size),
            "configName|configName: must be printable ASCII without spaces");
  EXPECT_EQ(refusal_of_config(R"({"configName":"c")" + size),
            "maxPerWindow|maxPerWindow: is required");
  EXPECT_EQ(refusal_of_config(R"({"configName":"c","maxPerWindow":"5")" + size),
            "maxPerWindow|maxPerWindow: must be a number, not a string");
  for (const std::string_view number : {"1.5", "1e3", "9223372036854775808"}) {
    EXPECT_EQ(
        refusal_of_config(R"({"configName":"c","maxPerWindow":)" + std::string(number) + size),
        "maxPerWindow|maxPerWindow: must be a whole number within 64 bits");
  }
  for (const std::string_view number : {"0", "-1", "10000001"}) {
    EXPECT_EQ(
        refusal_of_config(R"({"configName":"c","maxPerWindow":)" + std::string(number) + size),
        "maxPerWindow|maxPerWindow: must be from 1 to 10000000");
  }
  EXPECT_EQ(refusal_of_config(R"({"configName":"c","maxPerWindow":1,"pool":"a b")" + size),
            "pool|pool: must be printable ASCII without spaces");
  EXPECT_EQ(refusal_of_config(R"({"configName":"c","maxPerWindow":1,"pool":"")" + size),
            "pool|pool: must not be empty");
}

TEST(SlotConfigDraftJson, is_refused_without_exactly_one_window_size_in_range) {
  const std::string head = R"({"configName":"c","maxPerWindow":1)";
  EXPECT_EQ(refusal_of_config(head + "}"),
            "windowSize|windowSize: is required, as windowSize or windowSizeSecs");
  EXPECT_EQ(refusal_of_config(head + R"(,"windowSize":"PT4S","windowSizeSecs":4})"),
            "windowSize|windowSize: must not stand beside windowSizeSecs");
  EXPECT_EQ(refusal_of_config(head + R"(,"windowSize":4})"),
            "windowSize|windowSize: must be a string, not a number");
  for (const std::string_view text : {"PT0S", "P1DT0.001S", "P2D"}) {
    EXPECT_EQ(refusal_of_config(head + R"(,"windowSize":")" + std::string(text) + "\"}"),
              "windowSize|windowSize: must be from PT0.001S to P1D");
  }
  EXPECT_EQ(refusal_of_config(head + R"(,"windowSizeSecs":"4"})"),
            "windowSizeSecs|windowSizeSecs: must be a number, not a string");
  EXPECT_EQ(refusal_of_config(head + R"(,"windowSizeSecs":0.5})"),
            "windowSizeSecs|windowSizeSecs: must be a whole number within 64 bits");
  for (const std::string_view number : {"0", "-4", "86401", "9223372036854775807"}) {
    EXPECT_EQ(refusal_of_config(head + R"(,"windowSizeSecs":)" + std::string(number) + "}"),
              "windowSizeSecs|windowSizeSecs: must be from 1 to 86400");
  }
}

TEST(SlotConfigDraftJson, is_merged_into_the_one_in_force) {
  const auto in_force = decode(
      R"({"configName":"c","maxPerWindow":5,"windowSize":"PT4S","pool":"bank"})", decode_config);
  const auto merge = [&](std::string_view json) {
    const auto document = parse_json(json);
    return decode_slot_config(document->root(), &*in_force);
  };
  EXPECT_TRUE(differences(*in_force, *merge("{}")).empty());
  EXPECT_TRUE(differences(*in_force, *merge(R"({"maxPerWindow":null,"version":3})")).empty());
  EXPECT_EQ(differences(*in_force, *merge(R"({"configName":"c","windowSizeSecs":5})")),
            std::vector<std::string>{"windowSize"});
  EXPECT_EQ(merge(R"({"configName":"d"})").error().field, "configName");
  EXPECT_EQ(merge(R"({"maxPerWindow":0})").error().field, "maxPerWindow");
}

TEST(SlotConfigDocument, keeps_every_field) {
  const auto draft = decode(
      R"({"configName":"c","maxPerWindow":5,"windowSize":"PT0.25S","pool":"bank"})", decode_config);
  const std::string document = to_document(*draft);
  EXPECT_EQ(document,
            R"({"configName":"c","maxPerWindow":5,"windowSize":"PT0.25S","pool":"bank"})");
  EXPECT_TRUE(differences(*draft, *from_document<core::SlotConfigDraft>(document)).empty());
}

core::Slot example_slot() {
  return {.event = EventId::trusted("E\"1"),
          .config_name = ConfigName::trusted("payments"),
          .config_version = 3,
          .requested = kNoon + Millis{500},
          .window_start = kNoon + Seconds{4},
          .scheduled = kNoon + Millis{5'871},
          .created = kNoon - Micros{1},
          .status = core::SlotStatus::confirmed};
}

core::SlotConfig example_config() {
  return {.name = ConfigName::trusted("payments"),
          .pool = PoolName::trusted("bank"),
          .max_per_window = 100,
          .window_size = Seconds{4},
          .version = 3,
          .active = true,
          .effective_from = kNoon};
}

TEST(SlotJson, tells_an_assignment) {
  JsonWriter out;
  encode_assignment(out, example_slot());
  EXPECT_EQ(out.str(),
            R"({"eventId":"E\"1","scheduledTime":"2025-06-01T12:00:05.871Z","delayMs":5371,)"
            R"("windowStart":"2025-06-01T12:00:04.000Z","configName":"payments"})");
}

TEST(SlotJson, tells_a_slot_with_its_history) {
  JsonWriter out;
  encode_slot(out, example_slot());
  EXPECT_EQ(out.str(),
            R"({"eventId":"E\"1","scheduledTime":"2025-06-01T12:00:05.871Z","delayMs":5371,)"
            R"("windowStart":"2025-06-01T12:00:04.000Z","configName":"payments",)"
            R"("status":"CONFIRMED","requestedTime":"2025-06-01T12:00:00.500Z",)"
            R"("createdAt":"2025-06-01T11:59:59.999Z","configVersion":3})");
}

TEST(SlotJson, tells_whose_a_slot_is) {
  core::Slot slot = example_slot();
  slot.event = core::item_event("L:i0");
  JsonWriter out;
  encode_slot(out, slot);
  EXPECT_TRUE(out.str().starts_with(R"({"eventId":"L:i0",)")) << out.str();
  EXPECT_TRUE(out.str().ends_with(R"("owner":"dispatch"})")) << out.str();
}

TEST(SlotJson, tells_a_config) {
  JsonWriter out;
  encode_slot_config(out, example_config());
  EXPECT_EQ(out.str(),
            R"({"configName":"payments","maxPerWindow":100,"windowSize":"PT4S","pool":"bank",)"
            R"("version":3,"active":true,"effectiveFrom":"2025-06-01T12:00:00.000Z"})");
}

TEST(SlotJson, tells_the_used_windows) {
  const std::vector<core::WindowUse> windows = {{kNoon, 100}, {kNoon + Seconds{8}, 7}};
  EXPECT_EQ(encode_windows(example_config(), windows, false),
            R"({"config":"payments","pool":"bank","windowSize":"PT4S","windows":[)"
            R"({"windowStart":"2025-06-01T12:00:00.000Z","used":100,"max":100},)"
            R"({"windowStart":"2025-06-01T12:00:08.000Z","used":7,"max":100}]})");
  EXPECT_EQ(encode_windows(example_config(), {}, false),
            R"({"config":"payments","pool":"bank","windowSize":"PT4S","windows":[]})");
}

TEST(SlotJson, tells_where_to_go_on_when_windows_were_left_out) {
  const std::vector<core::WindowUse> windows = {{kNoon, 1}};
  EXPECT_EQ(encode_windows(example_config(), windows, true),
            R"({"config":"payments","pool":"bank","windowSize":"PT4S","windows":[)"
            R"({"windowStart":"2025-06-01T12:00:00.000Z","used":1,"max":100}],)"
            R"("truncated":true,"next":"2025-06-01T12:00:04.000Z"})");
}

}  // namespace
}  // namespace penstock::wire
