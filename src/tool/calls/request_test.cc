#include "tool/calls/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tool/calls/test_now.h"

namespace penstock {

namespace tool {

struct Lamp {
  std::string name;
  std::optional<std::int64_t> max_per_second;
  Millis fade{5};
  bool lit = false;
  std::vector<std::string> colors;
};

}  // namespace tool

template <>
struct Description<tool::Lamp> {
  static constexpr std::string_view name = "Lamp";
  static constexpr std::array fields = {
      required(range(field<&tool::Lamp::name>("name", "What it is called."), 1, 20)),
      range(field<&tool::Lamp::max_per_second>("maxPerSecond", "Blinks a second."), 1, 9),
      range(field<&tool::Lamp::fade>("fadeMs", "How slowly it changes."), 0, 100),
      field<&tool::Lamp::lit>("lit", "On or off."),
      each(field<&tool::Lamp::colors>("colors", "Of the glass."), 3, 1, 10)};
};

}  // namespace penstock

namespace penstock::tool {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr wire::RouteInfo kPutLamp{.id = "putLamp",
                                   .method = wire::Method::put,
                                   .pattern = "/houses/{houseId}/lamps/{userId}",
                                   .summary = "Put up a lamp",
                                   .request = &describe<Lamp>()};

// "NAME:field" of each argument, with a mark on those that must be given.
std::vector<std::string> arguments_of(const Call& call) {
  std::vector<std::string> out;
  for (const Argument& each : call.arguments) {
    out.push_back(each.names + ":" + each.field + (each.required ? "!" : ""));
  }
  return out;
}

TEST(CompleteCall, takes_the_path_and_the_described_fields) {
  const Call call = complete({.name = "put", .route = &kPutLamp});
  EXPECT_THAT(arguments_of(call), ElementsAre("HOUSE_ID:houseId!", "USER_ID:userId!",
                                              "--name:name!", "--max-per-second:maxPerSecond",
                                              "--fade-ms:fadeMs", "--lit:lit", "--colors:colors"));
  const Argument& pace = call.arguments[3];
  EXPECT_EQ(pace.help, "Blinks a second");
  EXPECT_TRUE(pace.nullable);
  EXPECT_EQ(pace.value_name, "COUNT");
  EXPECT_EQ(check_value(pace, "10", kNow).error().what,
            "must be a whole number from 1 to 9, or none");
  EXPECT_EQ(call.arguments[4].value_name, "MILLIS");
  EXPECT_EQ(call.arguments[5].kind, ArgumentKind::boolean);
  EXPECT_EQ(call.arguments[6].max, 3);
}

TEST(CompleteCall, leaves_to_the_call_what_it_says_in_its_own_words) {
  const Call call = complete({.name = "put",
                              .route = &kPutLamp,
                              .arguments = {{.names = "NAME", .field = "name", .required = true},
                                            {.names = "--slow", .field = "fadeMs"}},
                              .body = BodySource::whole,
                              .without = "lit"});
  EXPECT_THAT(arguments_of(call),
              ElementsAre("HOUSE_ID:houseId!", "USER_ID:userId!", "NAME:name!", "--slow:fadeMs",
                          "--max-per-second:maxPerSecond", "--colors:colors"));
}

TEST(CompleteCall, has_no_flags_where_the_body_is_fixed_or_a_file) {
  EXPECT_EQ(complete({.route = &kPutLamp, .body_members = R"("lit":true)"}).arguments.size(), 2U);
  EXPECT_EQ(complete({.route = &kPutLamp, .body = BodySource::file}).arguments.size(), 2U);
}

TEST(DescriptionOfCall, is_the_summary_of_the_route_or_what_the_call_says) {
  EXPECT_EQ(description_of({.route = &kPutLamp}), "Put up a lamp.");
  EXPECT_EQ(description_of({.route = &kPutLamp, .note = "High."}), "Put up a lamp.\nHigh.");
  EXPECT_EQ(description_of({.route = &kPutLamp, .about = "Light.", .note = "High."}),
            "Light.\nHigh.");
}

constexpr wire::RouteInfo kMake{.id = "make",
                                .method = wire::Method::put,
                                .pattern = "/things/{id}",
                                .summary = "Make a thing"};

Call sample() {
  return {.name = "make",
          .route = &kMake,
          .examples = {"penstock things make a"},
          .arguments = {
              {.names = "ID", .field = "id", .help = "", .place = Place::path},
              {.names = "--note", .field = "note", .help = ""},
              {.names = "--count",
               .field = "count",
               .help = "",
               .kind = ArgumentKind::integer,
               .min = 1,
               .max = 9,
               .nullable = true},
              {.names = "--rate", .field = "rate", .help = "", .kind = ArgumentKind::decimal},
              {.names = "--slot-config", .field = "slot.config", .help = ""},
              {.names = "--slot-at",
               .field = "slot.requestedTime",
               .help = "",
               .kind = ArgumentKind::time},
              {.names = "--context", .field = "context", .help = "", .kind = ArgumentKind::json},
              {.names = "--keys", .field = "keys", .help = "", .kind = ArgumentKind::texts},
              {.names = "--from",
               .field = "from",
               .help = "",
               .kind = ArgumentKind::time,
               .place = Place::query}}};
}

// What was typed, by position in sample(); the rest is not given.
Typed typed(std::initializer_list<std::pair<int, std::vector<std::string>>> given) {
  Typed all(sample().arguments.size());
  for (const auto& [index, values] : given) all[static_cast<std::size_t>(index)] = values;
  return all;
}

TEST(BuildRequest, puts_each_argument_in_its_place) {
  const auto request = build_request(
      sample(),
      typed({{0, {"a/b c"}}, {1, {"say \"hi\""}}, {2, {"3"}}, {3, {"0.50"}}, {8, {"now-PT1H"}}}),
      "", kNow);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->method, "PUT");
  EXPECT_EQ(request->target, "/things/a%2Fb%20c?from=2025-06-01T11%3A00%3A00.000Z");
  EXPECT_EQ(request->body, R"({"note":"say \"hi\"","count":3,"rate":0.50})");
}

TEST(BuildRequest, leaves_out_what_was_not_typed) {
  EXPECT_EQ(build_request(sample(), typed({{0, {"a"}}}), "", kNow)->body, "{}");
  Call bare = sample();
  bare.arguments.resize(1);
  EXPECT_EQ(build_request(bare, {{"a"}}, "", kNow)->body, "");
}

TEST(BuildRequest, sends_none_as_null) {
  EXPECT_EQ(build_request(sample(), typed({{0, {"a"}}, {2, {"none"}}}), "", kNow)->body,
            R"({"count":null})");
}

TEST(BuildRequest, nests_members_of_members) {
  EXPECT_EQ(build_request(sample(), typed({{0, {"a"}}, {4, {"c"}}, {5, {"now"}}}), "", kNow)->body,
            R"({"slot":{"config":"c","requestedTime":"2025-06-01T12:00:00.000Z"}})");
}

TEST(BuildRequest, passes_json_and_lists_on) {
  EXPECT_EQ(build_request(sample(), typed({{0, {"a"}}, {6, {R"({"x": [1.0]})"}}, {7, {"k", "l"}}}),
                          "", kNow)
                ->body,
            R"({"context":{"x": [1.0]},"keys":["k","l"]})");
}

TEST(BuildRequest, lays_options_over_the_whole_body) {
  EXPECT_EQ(build_request(sample(), typed({{0, {"a"}}, {1, {"new"}}, {4, {"c"}}}),
                          R"({"other": 1.50, "note": "old", "slot": {"ttl": "PT1S"}})", kNow)
                ->body,
            R"({"other":1.50,"note":"new","slot":{"ttl":"PT1S","config":"c"}})");
}

TEST(BuildRequest, sends_what_a_call_always_says) {
  Call call = sample();
  call.body_members = R"("enabled":false)";
  call.query = "status=DEAD";
  const auto request = build_request(call, typed({{0, {"a"}}, {8, {"now"}}}), "", kNow);
  EXPECT_EQ(request->body, R"({"enabled":false})");
  EXPECT_THAT(request->target, HasSubstr("?status=DEAD&from="));
}

TEST(BuildRequest, says_which_argument_is_wrong) {
  const auto why = [](Typed given, std::string_view whole = "") {
    const auto request = build_request(sample(), given, whole, kNow);
    return request ? "fine" : request.error().what;
  };
  EXPECT_EQ(why(typed({{0, {"a"}}, {2, {"10"}}})),
            "--count must be a whole number from 1 to 9, or none");
  EXPECT_EQ(why(typed({{0, {"a"}}, {3, {"fast"}}})), "--rate must be a number, such as 0.5");
  EXPECT_THAT(why(typed({{0, {"a"}}, {6, {"{x}"}}})), HasSubstr("--context: "));
  EXPECT_EQ(why(typed({{0, {"a"}}}), "[1]"), "--body must be a JSON object");
  EXPECT_THAT(why(typed({{0, {"a"}}}), "{"), HasSubstr("--body is not JSON: "));
}

TEST(CheckValue, knows_the_kinds) {
  const auto good = [](ArgumentKind kind, const char* text) {
    return check_value({.names = "X", .field = "x", .help = "", .kind = kind, .max = 5}, text, kNow)
        .has_value();
  };
  EXPECT_TRUE(good(ArgumentKind::integer, "5"));
  for (const char* bad : {"6", "-1", "1.0", "x", "none", " 1", "99999999999999999999"}) {
    EXPECT_FALSE(good(ArgumentKind::integer, bad)) << bad;
  }
  EXPECT_TRUE(good(ArgumentKind::decimal, "-0.5e3"));
  EXPECT_FALSE(good(ArgumentKind::decimal, "\"1\""));
  EXPECT_TRUE(good(ArgumentKind::boolean, "true"));
  EXPECT_FALSE(good(ArgumentKind::boolean, "yes"));
  EXPECT_TRUE(good(ArgumentKind::time, "now+PT1H"));
  EXPECT_FALSE(good(ArgumentKind::time, "soon"));
  EXPECT_TRUE(good(ArgumentKind::duration, "PT4S"));
  EXPECT_FALSE(good(ArgumentKind::duration, "4s"));
}

TEST(EntriesType, looks_at_the_name_and_then_at_the_text) {
  Call call = sample();
  EXPECT_EQ(entries_type(call, "x.csv", "{}\n{}"),
            "application/json");  // of one thing, not a batch
  call.route = &wire::route("takePayments");
  EXPECT_EQ(entries_type(call, "-", "\n [1]"), "application/json");
  EXPECT_EQ(entries_type(call, "-", "{}\n{}"), "application/x-ndjson");
  EXPECT_EQ(entries_type(call, "x.csv", "a,b"), "application/x-ndjson");  // has no CSV
  call.csv = true;
  EXPECT_EQ(entries_type(call, "x.csv", "[b],c"), "text/csv");
  EXPECT_EQ(entries_type(call, "-", "a,b"), "text/csv");
  EXPECT_EQ(entries_type(call, "-", "{}"), "application/x-ndjson");
}

TEST(BuildRequest, goes_to_the_route_that_a_word_chooses) {
  const Call call{.route = &wire::route("getReady"),
                  .arguments = {{.names = "CHECK",
                                 .field = "check",
                                 .help = "",
                                 .place = Place::route,
                                 .value_name = "ready|live"}},
                  .other_route = &wire::route("getLive")};
  EXPECT_EQ(build_request(call, {{"ready"}}, "", kNow)->target, "/health/ready");
  EXPECT_EQ(build_request(call, {{"live"}}, "", kNow)->target, "/health/live");
}

TEST(Filled, names_what_was_typed) {
  EXPECT_EQ(filled(sample(), "made {id}", typed({{0, {"a b"}}})), "made a b");
  EXPECT_EQ(filled(sample(), "made {nothing}", typed({{0, {"a"}}})), "made {nothing}");
}

}  // namespace
}  // namespace penstock::tool
