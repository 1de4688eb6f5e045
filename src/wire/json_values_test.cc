// What a parsed document says about its values.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/json.h"

namespace penstock::wire {
namespace {

// The text of a JSON string as a reader sees it, or what is wrong with it.
std::string string_of(std::string_view json) {
  const auto document = parse_json(json);
  if (!document) return document.error().what;
  EXPECT_EQ(document->root().type(), JsonType::string);
  EXPECT_EQ(document->root().raw(), json);
  return std::string(document->root().string());
}

std::optional<std::int64_t> integer_of(std::string_view json) {
  const auto document = parse_json(json);
  EXPECT_TRUE(document) << json;
  EXPECT_EQ(document->root().type(), JsonType::number);
  return document->root().integer();
}

TEST(JsonValue, has_a_type_with_a_name_for_people) {
  const std::vector<std::pair<std::string_view, JsonType>> cases = {
      {"null", JsonType::null},    {"true", JsonType::boolean}, {"1.5", JsonType::number},
      {"\"x\"", JsonType::string}, {"[1]", JsonType::array},    {"{\"a\":1}", JsonType::object},
  };
  for (const auto& [text, type] : cases) {
    const auto document = parse_json(text);
    ASSERT_TRUE(document);
    EXPECT_EQ(document->root().type(), type) << text;
    EXPECT_EQ(document->root().is_null(), type == JsonType::null);
  }
  EXPECT_EQ(to_string(JsonType::null), "null");
  EXPECT_EQ(to_string(JsonType::boolean), "a boolean");
  EXPECT_EQ(to_string(JsonType::number), "a number");
  EXPECT_EQ(to_string(JsonType::string), "a string");
  EXPECT_EQ(to_string(JsonType::array), "an array");
  EXPECT_EQ(to_string(JsonType::object), "an object");
}

TEST(JsonValue, tells_true_from_false) {
  const auto document = parse_json("[true,false]");
  ASSERT_TRUE(document);
  EXPECT_TRUE(document->root().first().boolean());
  EXPECT_FALSE(document->root().first().next().boolean());
}

TEST(JsonValue, unescapes_strings) {
  EXPECT_EQ(string_of(R"("")"), "");
  EXPECT_EQ(string_of(R"("plain")"), "plain");
  EXPECT_EQ(string_of(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(string_of(R"("\u0041")"), "A");
  EXPECT_EQ(string_of(R"("a\u0000b")"), std::string("a\0b", 3));
  EXPECT_EQ(string_of(R"("x\ny\tz")"), "x\ny\tz");
  EXPECT_EQ(string_of(R"("\\\\")"), R"(\\)");
  EXPECT_EQ(string_of(R"("\\u0041")"), R"(\u0041)");
  EXPECT_EQ(string_of(R"("\"")"), "\"");
}

TEST(JsonValue, turns_escapes_of_every_width_into_utf8) {
  EXPECT_EQ(string_of(R"("\u007f")"), "\x7f");
  EXPECT_EQ(string_of(R"("\u0080")"), "\xc2\x80");
  EXPECT_EQ(string_of(R"("\u07ff")"), "\xdf\xbf");
  EXPECT_EQ(string_of(R"("\u0800")"), "\xe0\xa0\x80");
  EXPECT_EQ(string_of(R"("\u20aC")"), "\xe2\x82\xac");
  EXPECT_EQ(string_of(R"("\ud7ff")"), "\xed\x9f\xbf");
  EXPECT_EQ(string_of(R"("\uE000")"), "\xee\x80\x80");
  EXPECT_EQ(string_of(R"("\uffff")"), "\xef\xbf\xbf");
  EXPECT_EQ(string_of(R"("\ud800\udc00")"), "\xf0\x90\x80\x80");
  EXPECT_EQ(string_of(R"("\uD83D\uDE00")"), "\xf0\x9f\x98\x80");
  EXPECT_EQ(string_of(R"("\udbff\udfff")"), "\xf4\x8f\xbf\xbf");
}

TEST(JsonValue, has_no_text_for_half_a_surrogate_pair) {
  for (const std::string_view text :
       {R"("\ud800")", R"("\udbff")", R"("\udc00")", R"("\udfff")", R"("\ud800x")", R"("\ud800\n")",
        R"("\ud800\\")", R"("\ud800\ud800")", R"("\ud800\u0041")", R"("\ud800\ue000")",
        R"("\ud800\udbff")", R"("\udc00\ud800")", R"("x\ud800)", R"("\ud800\)", R"("\ud800\u)",
        R"("\ud800\udc0)", R"("\ud800\udc0")", R"("\ud800 \udc00")"}) {
    EXPECT_FALSE(parse_json(text)) << text;
  }
}

TEST(JsonValue, keeps_utf8_as_it_came) {
  const std::string text = "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80 \xef\xbf\xbd";
  EXPECT_EQ(string_of('"' + text + '"'), text);
  EXPECT_EQ(string_of('"' + text + "\\n" + text + '"'), text + "\n" + text);
}

TEST(JsonValue, has_no_text_for_bytes_that_are_not_utf8) {
  for (const std::string_view bytes :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc3(", "\xe0\x80\x80", "\xe2\x82",
        "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf0\x9f\x98", "\xf4\x90\x80\x80", "\xf8", "\xff"}) {
    const std::string text(bytes);
    EXPECT_FALSE(parse_json('"' + text + '"'));
    EXPECT_FALSE(parse_json('"' + text));
    EXPECT_FALSE(parse_json("\"\\n" + text + '"'));
    EXPECT_FALSE(parse_json("{\"" + text + "\":1}"));
    EXPECT_FALSE(parse_json(text));
  }
}

TEST(JsonValue, keeps_many_unescaped_texts_alive) {
  std::string text = "[";
  for (int i = 0; i < 1'000; ++i) text += "\"\\n" + std::to_string(i) + "\",";
  text += "{\"\\t\":1}]";
  auto parsed = parse_json(text);
  ASSERT_TRUE(parsed);
  const JsonDocument document = std::move(*parsed);  // texts stay where they are when it moves
  JsonValue value = document.root().first();
  for (int i = 0; i < 1'000; ++i, value = value.next()) {
    ASSERT_EQ(value.string(), "\n" + std::to_string(i));
  }
  EXPECT_EQ(value.first().key(), "\t");
}

TEST(JsonValue, is_an_integer_only_when_whole_and_within_64_bits) {
  EXPECT_EQ(integer_of("0"), 0);
  EXPECT_EQ(integer_of("-0"), 0);
  EXPECT_EQ(integer_of("-1"), -1);
  EXPECT_EQ(integer_of("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(integer_of("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  for (const std::string_view text :
       {"9223372036854775808", "-9223372036854775809", "18446744073709551616", "1.5", "1.0", "0.0",
        "-0.0", "1e3", "1E3", "10e-1", "0e0", "100000000000000000000"}) {
    EXPECT_EQ(integer_of(text), std::nullopt) << text;
  }
  for (const std::string_view text : {"\"5\"", "true", "null", "[5]", "{}"}) {
    EXPECT_EQ(parse_json(text)->root().integer(), std::nullopt) << text;
  }
}

TEST(JsonValue, keeps_numbers_exactly_as_written) {
  for (const std::string_view text :
       {"1.10", "-0.0", "1E+2", "0.1000000000000000055511151231257827", "1e-400",
        "123456789012345678901234567890.5"}) {
    const std::string list = "[ " + std::string(text) + " ]";
    const auto document = parse_json(list);
    ASSERT_TRUE(document);
    EXPECT_EQ(document->root().first().raw(), text);
  }
}

TEST(JsonValue, gives_the_exact_text_of_any_subtree) {
  const std::string_view text = " {\"a\" : [ 1,\t2 ] , \"b\":{ \"c\" :\"x\\u0041\"} , \"d\":null} ";
  const auto document = parse_json(text);
  ASSERT_TRUE(document);
  const JsonValue root = document->root();
  EXPECT_EQ(root.raw(), text.substr(1, text.size() - 2));
  EXPECT_EQ(root.find("a").raw(), "[ 1,\t2 ]");
  EXPECT_EQ(root.find("b").raw(), "{ \"c\" :\"x\\u0041\"}");
  EXPECT_EQ(root.find("b").find("c").raw(), "\"x\\u0041\"");
  EXPECT_EQ(root.find("d").raw(), "null");
  EXPECT_EQ(root.raw().data(), text.data() + 1) << "a view, not a copy";
}

TEST(JsonValue, walks_the_children_in_order) {
  const auto document = parse_json(R"([[1,[2]],{},"x",{"a":[3],"b":4},[]])");
  ASSERT_TRUE(document);
  const JsonValue root = document->root();
  EXPECT_EQ(root.size(), 5U);
  std::vector<std::string_view> seen;
  for (JsonValue value = root.first(); value; value = value.next()) seen.push_back(value.raw());
  EXPECT_EQ(seen,
            (std::vector<std::string_view>{"[1,[2]]", "{}", "\"x\"", R"({"a":[3],"b":4})", "[]"}));
  EXPECT_FALSE(root.next());
}

TEST(JsonValue, does_not_leave_its_parent_when_it_steps_on) {
  const auto document = parse_json(R"([[1,2],{"a":{"b":5}},3])");
  ASSERT_TRUE(document);
  const JsonValue first = document->root().first();
  EXPECT_EQ(first.first().next().raw(), "2");
  EXPECT_FALSE(first.first().next().next());
  EXPECT_FALSE(first.next().first().next());
  EXPECT_FALSE(first.next().find("a").find("b").next());
  EXPECT_EQ(first.next().next().raw(), "3");
}

TEST(JsonValue, has_no_children_when_empty_or_scalar) {
  for (const std::string_view text : {"[]", "{}", "1", "\"x\"", "true", "null"}) {
    const auto document = parse_json(text);
    ASSERT_TRUE(document);
    EXPECT_EQ(document->root().size(), 0U);
    EXPECT_FALSE(document->root().first());
    EXPECT_FALSE(document->root().find("a"));
  }
}

TEST(JsonValue, finds_members_by_their_unescaped_key) {
  const auto document = parse_json(R"({"a":1,"\u0062":{"a":2},"":3,"a\u0000":4})");
  ASSERT_TRUE(document);
  const JsonValue root = document->root();
  EXPECT_EQ(root.size(), 4U);
  EXPECT_EQ(root.find("a").integer(), 1);
  EXPECT_EQ(root.find("b").find("a").integer(), 2);
  EXPECT_EQ(root.find("").integer(), 3);
  EXPECT_EQ(root.find(std::string_view("a\0", 2)).integer(), 4);
  EXPECT_EQ(root.first().next().key(), "b");
  EXPECT_FALSE(root.find("A"));
  EXPECT_FALSE(root.find("\\u0062"));
  EXPECT_FALSE(root.find("a ").operator bool());
}

TEST(JsonValue, finds_every_member_of_a_large_object) {
  std::string text = "{";
  for (int i = 0; i < 40; ++i)
    text += "\"m" + std::to_string(i) + "\":[" + std::to_string(i) + "],";
  text += "\"last\":true}";
  const auto document = parse_json(text);
  ASSERT_TRUE(document);
  EXPECT_EQ(document->root().size(), 41U);
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(document->root().find("m" + std::to_string(i)).first().integer(), i);
  }
  EXPECT_TRUE(document->root().find("last").boolean());
}

}  // namespace
}  // namespace penstock::wire
