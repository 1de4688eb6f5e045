// Which texts are JSON, and what is said about those that are not.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/json.h"

namespace penstock::wire {
namespace {

using namespace std::string_literals;

bool accepts(std::string_view text) { return parse_json(text).has_value(); }

// What is wrong with `text`, without the words that every refusal begins with.
std::string refusal_of(std::string_view text) {
  const Result<JsonDocument> document = parse_json(text);
  if (document) return "accepted";
  EXPECT_EQ(document.error().kind, ErrorKind::invalid);
  EXPECT_EQ(document.error().field, "");
  const std::string_view head = "not valid JSON: ";
  EXPECT_TRUE(document.error().what.starts_with(head)) << document.error().what;
  return document.error().what.substr(head.size());
}

std::string nested(std::size_t depth, std::string_view inside = "") {
  return std::string(depth, '[') + std::string(inside) + std::string(depth, ']');
}

std::string object_of(std::size_t members) {
  std::string text = "{";
  for (std::size_t i = 0; i < members; ++i) {
    if (i > 0) text += ',';
    text += "\"k" + std::to_string(i) + "\":" + std::to_string(i);
  }
  return text + "}";
}

TEST(JsonParser, takes_what_rfc_8259_allows) {
  const std::vector<std::string_view> texts = {"null",
                                               "true",
                                               "false",
                                               "0",
                                               "-0",
                                               "7",
                                               "-7",
                                               "10",
                                               "0.5",
                                               "-0.0",
                                               "1.50",
                                               "1e3",
                                               "1E3",
                                               "1e+3",
                                               "1e-3",
                                               "1.5E-10",
                                               "0e0",
                                               "0E+00",
                                               "1e999",
                                               "-1e-999",
                                               "123456789012345678901234567890",
                                               R"("")",
                                               R"("a")",
                                               R"("\"\\\/\b\f\n\r\t")",
                                               R"("A\u0000\uFFFF\uabCD")",
                                               R"("😀")",
                                               R"("/")",
                                               "\"\x7f\"",
                                               "[]",
                                               "[ ]",
                                               "[\n\t\r ]",
                                               "[1]",
                                               "[1,2]",
                                               "[ 1 , 2 ]",
                                               "[[],{},[[]]]",
                                               "{}",
                                               "{ }",
                                               R"({"":0})",
                                               R"({"a":1})",
                                               R"( { "a" : 1 , "b" : [ ] } )",
                                               "\t\n\r null \t\n\r",
                                               R"({"a":{"a":{"a":1}}})",
                                               R"([{"a":1},{"a":1}])"};
  for (const std::string_view text : texts) {
    EXPECT_TRUE(accepts(text)) << text << ": " << refusal_of(text);
  }
}

TEST(JsonParser, refuses_what_rfc_8259_forbids) {
  const std::vector<std::string> texts = {
      // No value, or more than one.
      "", " ", "\n", "1 2", "1,2", "[] []", "{}{}", "null null", "truefalse", "[],", ",", ":",
      // Words.
      "nul", "nulll", "Null", "NULL", "True", "tru", "truee", "fals", "undefined", "None", "NaN",
      "nan", "Infinity", "-Infinity", "inf", "n", "t", "f", "nope", "maybe",
      // Numbers.
      "-", "+1", "--1", "01", "00", "-01", "1.", ".5", "-.5", "1.e3", "1e", "1e+", "1e-", "1E+",
      "1e1.5", "1.2.3", "0x10", "1_000", "1,000", "1a", "1e3e3", "- 1", "1 .5", "0b1", "1f", "1L",
      "\xc2\xbd",
      // Strings.
      "\"", "\"a", "a\"", "'a'", "\"\\", "\"\\\"", "\"\\x\"", "\"\\a\"", "\"\\'\"", "\"\\0\"",
      "\"\\U0041\"", "\"\\u\"", "\"\\u1\"", "\"\\u12\"", "\"\\u123\"", "\"\\u123g\"", "\"\\u 123\"",
      "\"\\u+123\"", "\"\\u-123\"", "\"\\u12", "\"\n\"", "\"\t\"", "\"\x1f\"", "\"\0\""s,
      "\"a\\\n\"", "\"\" \"\"",
      // Arrays.
      "[", "]", "[1", "[1,", "[1,]", "[,]", "[,1]", "[1,,2]", "[1 2]", "[1:2]", "[1}", "[}", "[[]",
      "[]]", "[\"a\":1]", "(1)", "[1;2]",
      // Objects.
      "{", "}", "{]", R"({"a")", R"({"a":)", R"({"a":1)", R"({"a":1,)", R"({"a":1,})", R"({"a"})",
      R"({"a",1})", R"({"a":})", R"({a:1})", R"({1:1})", R"({null:1})", R"({'a':1})",
      R"({"a":1 "b":2})", R"({"a"::1})", R"({,})", R"({,"a":1})", R"({"a":1,,"b":2})",
      R"({"a":1]})", R"({["a"]:1})", R"({"a":1;"b":2})", R"({"a"=1})",
      // White space and comments that JSON does not know.
      "\v1", "\f1",
      "\xc2\xa0"
      "1",
      "1\0"s, "\0"s,
      "\0"
      "1"s,
      "\xef\xbb\xbf{}", "// x\n1", "/* x */ 1", "1 // x", "# x\n1", "[1 /* x */]"};
  for (const std::string& text : texts) EXPECT_FALSE(accepts(text)) << text;
}

TEST(JsonParser, takes_a_view_without_bytes_for_a_missing_value) {
  EXPECT_EQ(refusal_of(std::string_view{}), "a value is missing at byte 0");
  EXPECT_EQ(refusal_of("  "), "a value is missing at byte 2");
}

TEST(JsonParser, says_what_is_wrong_and_where) {
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {"nope", "a value is malformed at byte 0"},
      {"[1, @]", "a value is malformed at byte 4"},
      {"[1,]", "a value is malformed at byte 3"},
      {"-x", "a value is malformed at byte 1"},
      {"1.x", "a digit is missing after the point at byte 2"},
      {"1ex", "a digit is missing in the exponent at byte 2"},
      {"01", "unexpected text after the value at byte 1"},
      {"{} x", "unexpected text after the value at byte 3"},
      {"[1", "an array does not end at byte 2"},
      {"[1 2]", "expected , or ] at byte 3"},
      {"[", "a value is missing at byte 1"},
      {"{", "a key is missing at byte 1"},
      {R"({"a":1,})", "a key is missing at byte 7"},
      {R"({"a" 1})", "expected : at byte 5"},
      {R"({"a":1 x})", "expected , or } at byte 7"},
      {R"({"a":1)", "an object does not end at byte 6"},
      {R"("abc)", "a string does not end at byte 4"},
      {R"("a\)", "a string does not end at byte 3"},
      {R"("a\n)", "a string does not end at byte 4"},
      {R"("a\q")", "an unknown escape at byte 4"},
      {R"("\u12)", "a \\u escape is cut short at byte 3"},
      {R"("\u12x4")", "a \\u escape needs four hexadecimal digits at byte 5"},
      {R"("\ud800")", "half a surrogate pair at byte 7"},
      {R"("\udc00")", "half a surrogate pair at byte 7"},
      {"\"a\nb\"", "a control character in a string at byte 2"},
      {"\"\\n\tb\"", "a control character in a string at byte 3"},
      {"\"a\xff\"", "a string is not UTF-8 at byte 2"},
      {"\"\\n\xff\"", "a string is not UTF-8 at byte 3"},
  };
  for (const auto& [text, what] : cases) EXPECT_EQ(refusal_of(text), what) << text;
}

TEST(JsonParser, takes_sixty_four_levels_and_not_one_more) {
  EXPECT_TRUE(accepts(nested(64)));
  EXPECT_TRUE(accepts(nested(64, "1")));
  EXPECT_EQ(refusal_of(nested(65)), "nested too deeply at byte 64");
  std::string objects;
  for (int i = 0; i < 64; ++i) objects += R"({"a":)";
  EXPECT_TRUE(accepts(objects + "1" + std::string(64, '}')));
  EXPECT_EQ(refusal_of(objects + "{}" + std::string(64, '}')), "nested too deeply at byte 320");
  EXPECT_EQ(refusal_of(objects + "[]" + std::string(64, '}')), "nested too deeply at byte 320");
}

TEST(JsonParser, counts_levels_not_brackets) {
  std::string wide = "[";
  for (int i = 0; i < 1'000; ++i) wide += "[],";
  EXPECT_TRUE(accepts(wide + "[]]"));
}

TEST(JsonParser, answers_a_mebibyte_of_brackets_without_exhausting_the_stack) {
  for (const char bracket : {'[', '{', ']', '}', '"', '\\', ',', '-', '0', '\0', '\xff'}) {
    EXPECT_FALSE(accepts(std::string(1 << 20, bracket))) << bracket;
  }
  std::string members;
  while (members.size() < (1 << 20)) members += R"({"a":)";
  EXPECT_EQ(refusal_of(members), "nested too deeply at byte 320");
}

TEST(JsonParser, takes_long_values_whole) {
  const std::string digits(1 << 20, '7');
  const auto number = parse_json(digits);
  ASSERT_TRUE(number);
  EXPECT_EQ(number->root().raw(), digits);
  const std::string letters(1 << 20, 'x');
  const auto string = parse_json('"' + letters + '"');
  EXPECT_TRUE(string);
}

TEST(JsonParser, takes_a_bounded_number_of_values) {
  // The array is a value too.
  std::string text = "[" + std::string(2 * kJsonValuesMax - 3, '1');
  for (std::size_t i = 2; i < text.size(); i += 2) text[i] = ',';
  EXPECT_TRUE(accepts(text + "]"));
  const auto refused = parse_json(text + ",1]");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::too_large);
  EXPECT_EQ(refused.error().what, "JSON has at most 1048576 values");
}

TEST(JsonParser, refuses_a_key_that_stands_twice) {
  EXPECT_EQ(refusal_of(R"({"a":1,"a":2})"),
            R"(the key "a" stands twice in the object that ends at byte 13)");
  EXPECT_FALSE(accepts(R"({"a":1,"b":2,"a":3})"));
  EXPECT_FALSE(accepts(R"({"":1,"":2})"));
  EXPECT_FALSE(accepts(R"([{"x":{"a":1,"a":1}}])"));
  EXPECT_FALSE(accepts(R"({"a":{"b":[1,2]},"c":{},"a":0})"));
}

TEST(JsonParser, sees_through_escapes_when_it_compares_keys) {
  EXPECT_FALSE(accepts(R"({"a":1,"\u0061":2})"));
  EXPECT_FALSE(accepts(R"({"\u0061":1,"a":2})"));
  EXPECT_FALSE(accepts("{\"\xf0\x9f\x98\x80\":1,\"\\ud83d\\ude00\":2}"));
  EXPECT_FALSE(accepts(R"({"/":1,"\/":2})"));
  EXPECT_TRUE(accepts(R"({"a":1,"A":2,"\u0062":3,"a ":4,"\u0000":5,"":6})"));
  // U+00E9 and e with U+0301 look alike and are two keys.
  EXPECT_TRUE(accepts("{\"\xc3\xa9\":1,\"e\xcc\x81\":2}"));
}

TEST(JsonParser, tells_the_key_that_stands_twice_safely) {
  EXPECT_EQ(refusal_of(R"({"\n\"":1,"\u000a\"":2})"),
            R"(the key "\n\"" stands twice in the object that ends at byte 23)");
  const std::string key(100, 'k');
  EXPECT_EQ(
      refusal_of("{\"" + key + "\":1,\"" + key + "\":2}"),
      "the key \"" + std::string(64, 'k') + "\" stands twice in the object that ends at byte 211");
}

TEST(JsonParser, finds_a_repeated_key_at_every_place_of_objects_of_every_size) {
  for (const std::size_t members : {2, 3, 15, 16, 17, 18, 20, 64}) {
    EXPECT_TRUE(accepts(object_of(members))) << members;
    for (std::size_t again = 0; again < members; ++again) {
      std::string text = object_of(members);
      text.insert(text.size() - 1, ",\"k" + std::to_string(again) + "\":0");
      EXPECT_EQ(refusal_of(text), "the key \"k" + std::to_string(again) +
                                      "\" stands twice in the object that ends at byte " +
                                      std::to_string(text.size()));
    }
  }
}

TEST(JsonParser, compares_the_keys_of_a_huge_object_in_reasonable_time) {
  EXPECT_TRUE(accepts(object_of(50'000)));
}

TEST(JsonParser, refuses_every_true_prefix_of_a_document) {
  const std::string text = R"({"a":[1,-2.5e+10,true,false,null],"b\u0041\n":"x\ud83d\ude00)"
                           "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"
                           R"(","c":{"d":{},"e":[[]]}})";
  ASSERT_TRUE(accepts(text));
  for (std::size_t size = 0; size < text.size(); ++size) {
    // Its own allocation, so that a read past the end is seen by ASAN.
    const std::vector<char> prefix(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(accepts({prefix.data(), prefix.size()})) << size;
  }
}

TEST(JsonParser, survives_any_one_byte_put_anywhere) {
  const std::string text = R"({"a":[1,-2.5e+1,true,null],"b\u0041":"x\ud83d\ude00"})";
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = text;
      changed[at] = static_cast<char>(byte);
      const auto document = parse_json(changed);
      if (!document) continue;
      EXPECT_EQ(document->root().raw(), changed);
    }
  }
}

}  // namespace
}  // namespace penstock::wire
