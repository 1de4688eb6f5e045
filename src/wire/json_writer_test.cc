// What JsonWriter writes, and that the parser reads it back.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/utf8.h"
#include "wire/json.h"

namespace penstock::wire {
namespace {

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(JsonString, escapes_what_json_demands_and_nothing_printable) {
  EXPECT_EQ(json_string(""), R"("")");
  EXPECT_EQ(json_string("plain / text ~"), R"("plain / text ~")");
  EXPECT_EQ(json_string("\"\\"), R"("\"\\")");
  EXPECT_EQ(json_string("\n\r\t"), R"("\n\r\t")");
  EXPECT_EQ(json_string(std::string_view("\0\b\f\x1f\x7f", 5)),
            R"("\u0000\u0008\u000c\u001f\u007f")");
  EXPECT_EQ(json_string("a\"b\"c"), R"("a\"b\"c")");
  EXPECT_EQ(json_string("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80!"),
            "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80!\"");
}

TEST(JsonString, is_appended_to_what_is_there) {
  std::string out = "x=";
  append_json_string(out, "y");
  EXPECT_EQ(out, R"(x="y")");
}

TEST(JsonString, replaces_each_byte_that_is_not_utf8) {
  EXPECT_EQ(json_string("\xff"), R"("\ufffd")");
  EXPECT_EQ(json_string("a\xc3(b"), R"("a\ufffd(b")");
  EXPECT_EQ(json_string("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")");
  EXPECT_EQ(json_string("x\xf0\x9f\x98"), R"("x\ufffd\ufffd\ufffd")");
  EXPECT_EQ(json_string("\xc3\xa9\x80\xc3\xa9"), "\"\xc3\xa9\\ufffd\xc3\xa9\"");
}

TEST(JsonString, is_read_back_whatever_bytes_it_had) {
  for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
    Rng rng(seed);
    std::string text;
    // What a reader must see: the bytes, or U+FFFD for each one that is no UTF-8.
    std::string seen;
    for (std::uint64_t bytes = rng.below(24); bytes > 0; --bytes) {
      const bool high = rng.below(2) == 0;
      text += static_cast<char>(high ? 0x80 + rng.below(0x80) : rng.below(0x80));
    }
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t length = utf8_length(std::string_view(text).substr(i));
      seen += length == 0 ? "\xef\xbf\xbd" : text.substr(i, length);
      i += length == 0 ? 1 : length;
    }
    const std::string json = json_string(text);
    const auto document = parse_json(json);
    ASSERT_TRUE(document) << json << " seed " << seed;
    ASSERT_EQ(document->root().string(), seen) << " seed " << seed;
  }
}

TEST(JsonWriter, writes_compact_json) {
  JsonWriter out;
  out.begin_object()
      .member("text", "x\"y")
      .member("view", std::string_view("v"))
      .member("owned", std::string("o"))
      .member("number", std::int64_t{-5})
      .member("small", 7)
      .member("yes", true)
      .member("no", false)
      .member("at", from_epoch_millis(1'748'779'202'371))
      .key("nothing")
      .null()
      .key("raw")
      .raw(R"({"b":[1, 2]})")
      .key("list")
      .begin_array()
      .value(1)
      .value("two")
      .begin_array()
      .end_array()
      .begin_object()
      .end_object()
      .value(true)
      .end_array()
      .key("empty")
      .begin_object()
      .end_object()
      .member("last", 0)
      .end_object();
  EXPECT_EQ(out.str(),
            R"({"text":"x\"y","view":"v","owned":"o","number":-5,"small":7,"yes":true,"no":false,)"
            R"("at":"2025-06-01T12:00:02.371Z","nothing":null,"raw":{"b":[1, 2]},)"
            R"("list":[1,"two",[],{},true],"empty":{},"last":0})");
}

TEST(JsonWriter, writes_one_scalar_or_an_empty_container) {
  EXPECT_EQ(JsonWriter().value("x").str(), R"("x")");
  EXPECT_EQ(JsonWriter().null().str(), "null");
  EXPECT_EQ(JsonWriter().begin_array().end_array().str(), "[]");
  EXPECT_EQ(JsonWriter().begin_object().end_object().str(), "{}");
}

TEST(JsonWriter, writes_the_limits_of_64_bits) {
  EXPECT_EQ(JsonWriter().value(std::numeric_limits<std::int64_t>::min()).str(),
            "-9223372036854775808");
  EXPECT_EQ(JsonWriter().value(std::numeric_limits<std::int64_t>::max()).str(),
            "9223372036854775807");
}

TEST(JsonWriter, gives_its_text_away) {
  JsonWriter out(0);
  out.begin_array().value(1).end_array();
  EXPECT_EQ(std::move(out).take(), "[1]");
}

// A document to write, and to hold a parsed one against.
struct Tree {
  std::string key = {};  // in the object around it
  JsonType type = JsonType::null;
  bool truth = false;
  std::int64_t integer = 0;
  std::string number;  // a number that is not an integer
  std::string text;
  std::vector<Tree> children;
};

std::string random_text(Rng& rng) {
  static constexpr std::string_view kPieces[] = {"a",
                                                 " ",
                                                 "\"",
                                                 "\\",
                                                 "/",
                                                 "\n",
                                                 "\t",
                                                 "\r",
                                                 "\b",
                                                 "\x01",
                                                 "\x1f",
                                                 "\x7f",
                                                 "{",
                                                 "]",
                                                 ",",
                                                 ":",
                                                 "\\u0041",
                                                 "\xc2\x80",
                                                 "\xdf\xbf",
                                                 "\xe0\xa0\x80",
                                                 "\xef\xbf\xbf",
                                                 "\xf0\x90\x80\x80",
                                                 "\xf4\x8f\xbf\xbf",
                                                 std::string_view("\0", 1)};
  std::string text;
  for (std::uint64_t pieces = rng.below(8); pieces > 0; --pieces) {
    text += kPieces[rng.below(std::size(kPieces))];
  }
  return text;
}

Tree random_tree(Rng& rng, std::size_t depth) {
  Tree tree;
  tree.type = static_cast<JsonType>(rng.below(depth == 0 ? 4 : 6));
  tree.truth = tree.type == JsonType::boolean && rng.below(2) == 0;
  if (tree.type == JsonType::string) tree.text = random_text(rng);
  if (tree.type == JsonType::number && rng.below(2) == 0) {
    tree.number = std::to_string(rng.below(100)) + "." + std::to_string(rng()) + "e-7";
  } else if (tree.type == JsonType::number) {
    tree.integer = static_cast<std::int64_t>(rng()) >> rng.below(64);
  }
  if (tree.type != JsonType::array && tree.type != JsonType::object) return tree;
  const std::uint64_t children = rng.below(rng.below(20) == 0 ? 40 : 5);
  for (std::uint64_t i = 0; i < children; ++i) {
    Tree child = random_tree(rng, depth - 1);
    if (tree.type == JsonType::object) child.key = "key " + std::to_string(i);
    tree.children.push_back(std::move(child));
  }
  return tree;
}

void write(JsonWriter& out, const Tree& tree) {
  switch (tree.type) {
    case JsonType::null:
      out.null();
      return;
    case JsonType::boolean:
      out.value(tree.truth);
      return;
    case JsonType::number:
      tree.number.empty() ? out.value(tree.integer) : out.raw(tree.number);
      return;
    case JsonType::string:
      out.value(tree.text);
      return;
    case JsonType::array:
      out.begin_array();
      for (const Tree& child : tree.children) write(out, child);
      out.end_array();
      return;
    case JsonType::object:
      out.begin_object();
      for (const Tree& child : tree.children) write(out.key(child.key), child);
      out.end_object();
  }
}

bool same(const Tree& tree, JsonValue value) {
  if (tree.type != value.type() || tree.children.size() != value.size()) return false;
  if (tree.type == JsonType::boolean && tree.truth != value.boolean()) return false;
  if (tree.type == JsonType::string && tree.text != value.string()) return false;
  if (tree.type == JsonType::number) {
    return tree.number.empty() ? tree.integer == value.integer() : tree.number == value.raw();
  }
  JsonValue child = value.first();
  for (const Tree& expected : tree.children) {
    if (!child || child.key() != expected.key || !same(expected, child)) return false;
    child = child.next();
  }
  return !child;
}

TEST(JsonWriter, writes_what_the_parser_reads_back_equal) {
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    Rng rng(seed);
    const Tree tree = random_tree(rng, rng.below(7));
    JsonWriter out(0);
    write(out, tree);
    const auto document = parse_json(out.str());
    ASSERT_TRUE(document) << document.error().what << " seed " << seed << ": " << out.str();
    ASSERT_TRUE(same(tree, document->root())) << "seed " << seed << ": " << out.str();
    ASSERT_EQ(document->root().raw(), out.str());
  }
}

}  // namespace
}  // namespace penstock::wire
