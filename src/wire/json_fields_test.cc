#include "wire/json_fields.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

namespace penstock::wire {
namespace {

using Read = std::function<void(JsonFields&)>;

// The error after `read` has read the object, as "field|what"; empty when there is none.
std::string problem_after(std::string_view json, const Read& read) {
  const auto document = parse_json(json);
  EXPECT_TRUE(document) << json;
  JsonFields fields(document->root());
  read(fields);
  if (!fields.error()) return "";
  EXPECT_EQ(fields.error()->kind, ErrorKind::invalid);
  return fields.error()->field + "|" + fields.error()->what;
}

const Read kReadInteger = [](JsonFields& fields) { fields.required_integer("n"); };
const Read kReadString = [](JsonFields& fields) { fields.required_string("s"); };
const Read kReadInstant = [](JsonFields& fields) { fields.required_instant("at"); };
const Read kReadDuration = [](JsonFields& fields) { fields.optional_duration("d"); };

TEST(JsonFields, reads_each_type) {
  const auto document = parse_json(
      R"({"s":"a\u0062","n":-7,"at":"2025-06-01T12:00:02.371Z","d":"PT4S","id":"E-1","more":[]})");
  ASSERT_TRUE(document);
  JsonFields fields(document->root());
  EXPECT_EQ(fields.required_string("s"), "ab");
  EXPECT_EQ(fields.optional_string("s"), "ab");
  EXPECT_EQ(fields.required_integer("n"), -7);
  EXPECT_EQ(fields.optional_integer("n"), -7);
  EXPECT_EQ(fields.required_instant("at"), from_epoch_millis(1'748'779'202'371));
  EXPECT_EQ(fields.optional_instant("at"), from_epoch_millis(1'748'779'202'371));
  EXPECT_EQ(fields.optional_duration("d"), Millis{4'000});
  EXPECT_EQ(fields.required_id<EventId>("id"), EventId::trusted("E-1"));
  EXPECT_EQ(fields.optional_id<EventId>("id"), EventId::trusted("E-1"));
  EXPECT_FALSE(fields.error());
}

TEST(JsonFields, takes_an_optional_member_that_is_absent_or_null_for_nothing) {
  for (const std::string_view json : {"{}", R"({"x":null})"}) {
    const auto document = parse_json(json);
    ASSERT_TRUE(document);
    JsonFields fields(document->root());
    EXPECT_EQ(fields.optional_string("x"), std::nullopt);
    EXPECT_EQ(fields.optional_integer("x"), std::nullopt);
    EXPECT_EQ(fields.optional_instant("x"), std::nullopt);
    EXPECT_EQ(fields.optional_duration("x"), std::nullopt);
    EXPECT_TRUE(fields.optional_id<ConfigName>("x").empty());
    EXPECT_FALSE(fields.error()) << json;
  }
}

TEST(JsonFields, misses_a_required_member_that_is_absent_or_null) {
  for (const std::string_view json : {"{}", R"({"n":null,"s":null,"at":null,"id":null})"}) {
    EXPECT_EQ(problem_after(json, kReadInteger), "n|n: is required");
    EXPECT_EQ(problem_after(json, kReadString), "s|s: is required");
    EXPECT_EQ(problem_after(json, kReadInstant), "at|at: is required");
    EXPECT_EQ(problem_after(json, [](JsonFields& fields) { fields.required_id<EventId>("id"); }),
              "id|id: is required");
  }
}

TEST(JsonFields, names_the_type_it_wants_and_the_one_it_found) {
  EXPECT_EQ(problem_after(R"({"n":"5"})", kReadInteger), "n|n: must be a number, not a string");
  EXPECT_EQ(problem_after(R"({"n":true})", kReadInteger), "n|n: must be a number, not a boolean");
  EXPECT_EQ(problem_after(R"({"n":[5]})", kReadInteger), "n|n: must be a number, not an array");
  EXPECT_EQ(problem_after(R"({"s":5})", kReadString), "s|s: must be a string, not a number");
  EXPECT_EQ(problem_after(R"({"s":{}})", kReadString), "s|s: must be a string, not an object");
  EXPECT_EQ(problem_after(R"({"at":1748779202371})", kReadInstant),
            "at|at: must be a string, not a number");
  EXPECT_EQ(problem_after(R"({"d":4})", kReadDuration), "d|d: must be a string, not a number");
}

TEST(JsonFields, is_as_strict_with_optional_members) {
  EXPECT_EQ(problem_after(R"({"n":"5"})", [](JsonFields& fields) { fields.optional_integer("n"); }),
            "n|n: must be a number, not a string");
  EXPECT_EQ(problem_after(R"({"n":1.5})", [](JsonFields& fields) { fields.optional_integer("n"); }),
            "n|n: must be a whole number within 64 bits");
  EXPECT_EQ(
      problem_after(R"({"s":false})", [](JsonFields& fields) { fields.optional_string("s"); }),
      "s|s: must be a string, not a boolean");
  EXPECT_EQ(
      problem_after(R"({"at":"now"})", [](JsonFields& fields) { fields.optional_instant("at"); }),
      "at|at: must be an ISO-8601 instant with offset, like 2025-06-01T12:00:00Z");
  EXPECT_EQ(
      problem_after(R"({"id":""})", [](JsonFields& fields) { fields.optional_id<EventId>("id"); }),
      "id|id: must not be empty");
}

TEST(JsonFields, takes_only_whole_numbers_within_64_bits_for_integers) {
  for (const std::string_view number : {"1.5", "1.0", "1e3", "1E0", "-0.0", "9223372036854775808",
                                        "-9223372036854775809", "1e400"}) {
    EXPECT_EQ(problem_after("{\"n\":" + std::string(number) + "}", kReadInteger),
              "n|n: must be a whole number within 64 bits")
        << number;
  }
  const auto document = parse_json(R"({"zero":-0,"max":9223372036854775807})");
  ASSERT_TRUE(document);
  JsonFields fields(document->root());
  EXPECT_EQ(fields.required_integer("zero"), 0);
  EXPECT_EQ(fields.required_integer("max"), std::numeric_limits<std::int64_t>::max());
  EXPECT_FALSE(fields.error());
}

TEST(JsonFields, passes_on_what_is_wrong_with_a_text) {
  EXPECT_EQ(problem_after(R"({"at":"2025-06-01T12:00:00"})", kReadInstant),
            "at|at: must be an ISO-8601 instant with offset, like 2025-06-01T12:00:00Z");
  EXPECT_EQ(problem_after(R"({"at":"1969-01-01T00:00:00Z"})", kReadInstant),
            "at|at: must lie in the years 1970 to 2261");
  EXPECT_EQ(problem_after(R"({"at":""})", kReadInstant),
            "at|at: must be an ISO-8601 instant with offset, like 2025-06-01T12:00:00Z");
  EXPECT_EQ(problem_after(R"({"d":"P1Y"})", kReadDuration),
            "d|d: must be an ISO-8601 duration without years and months, like PT4S, PT0.5S or P1D");
  const Read read_id = [](JsonFields& fields) { fields.required_id<PoolName>("id"); };
  EXPECT_EQ(problem_after(R"({"id":""})", read_id), "id|id: must not be empty");
  EXPECT_EQ(problem_after(R"({"id":"a b"})", read_id),
            "id|id: must be printable ASCII without spaces");
  EXPECT_EQ(problem_after(R"({"id":"a\u0000"})", read_id),
            "id|id: must be printable ASCII without spaces");
  EXPECT_EQ(problem_after("{\"id\":\"" + std::string(129, 'x') + "\"}", read_id),
            "id|id: must have at most 128 characters");
}

TEST(JsonFields, keeps_the_first_problem_and_reads_nothing_after_it) {
  const auto document = parse_json(R"({"a":1,"b":"x","n":5,"s":"y","d":"bad"})");
  ASSERT_TRUE(document);
  JsonFields fields(document->root());
  fields.required_string("a");
  ASSERT_TRUE(fields.error());
  const std::string first = fields.error()->what;
  EXPECT_EQ(first, "a: must be a string, not a number");
  EXPECT_EQ(fields.required_string("b"), "");
  EXPECT_EQ(fields.optional_string("s"), std::nullopt);
  EXPECT_EQ(fields.required_integer("n"), 0);
  EXPECT_EQ(fields.optional_integer("n"), std::nullopt);
  EXPECT_EQ(fields.required_instant("b"), Instant{});
  EXPECT_EQ(fields.optional_instant("b"), std::nullopt);
  EXPECT_EQ(fields.optional_duration("d"), std::nullopt);
  EXPECT_TRUE(fields.required_id<EventId>("s").empty());
  EXPECT_TRUE(fields.optional_id<EventId>("s").empty());
  fields.problem("z", "is late");
  EXPECT_EQ(fields.error()->what, first);
}

TEST(JsonFields, records_a_problem_of_the_callers_own_finding) {
  EXPECT_EQ(problem_after("{}", [](JsonFields& fields) { fields.problem("x", "is odd"); }),
            "x|x: is odd");
}

TEST(JsonFields, wants_an_object_before_anything_else) {
  EXPECT_EQ(problem_after("[]", kReadInteger), "|the request must be an object, not an array");
  EXPECT_EQ(problem_after("null", kReadInteger), "|the request must be an object, not null");
  EXPECT_EQ(problem_after("5", kReadInteger), "|the request must be an object, not a number");
  EXPECT_EQ(problem_after("\"{}\"", kReadInteger), "|the request must be an object, not a string");
}

}  // namespace
}  // namespace penstock::wire
