#include "tool/calls/view.h"

#include <gtest/gtest.h>

#include "tool/calls/test_now.h"

namespace penstock::tool {

namespace {

std::string word(std::string_view json, Form form) {
  const Result<wire::JsonDocument> document = wire::parse_json(json);
  return worded(document.value().root(), form);
}

std::string text_of(const View& view, std::string_view json) {
  const Result<wire::JsonDocument> document = wire::parse_json(json);
  return answer_text(view, document.value().root(), kNow);
}

TEST(Worded, gives_numbers_their_units) {
  EXPECT_EQ(word("1234567", Form::count), "1,234,567");
  EXPECT_EQ(word("-1234", Form::count), "-1,234");
  EXPECT_EQ(word("-9223372036854775808", Form::count), "-9,223,372,036,854,775,808");
  EXPECT_EQ(word("2371", Form::millis), "2.371 s");
  EXPECT_EQ(word("-1", Form::millis), "never");
  EXPECT_EQ(word("9223372036854775807", Form::seconds), "9,223,372,036,854,775,807");
  EXPECT_EQ(word("300", Form::seconds), "5 min");
  EXPECT_EQ(word("90", Form::minutes), "1 h 30 min");
  EXPECT_EQ(word("50", Form::per_second), "50/s");
  EXPECT_EQ(word("0.5", Form::per_second), "0.5/s");
  EXPECT_EQ(word("\"PT4S\"", Form::duration), "4 s");
}

TEST(Worded, makes_the_rest_readable) {
  EXPECT_EQ(word("true", Form::yes_no), "yes");
  EXPECT_EQ(word("false", Form::yes_no), "no");
  EXPECT_EQ(word("null", Form::count), "");
  EXPECT_EQ(word("\"2030-01-01T00:00:00.000Z\"", Form::instant), "2030-01-01T00:00:00Z");
  EXPECT_EQ(word("\"2030-01-01T00:00:00.250Z\"", Form::instant), "2030-01-01T00:00:00.250Z");
  EXPECT_EQ(word("{\"a\": 1}", Form::json), "{\"a\": 1}");
  EXPECT_EQ(word("\"a\\u001bb\"", Form::text), "a\\x1bb");
}

TEST(Worded, shows_what_it_does_not_understand_as_it_is) {
  for (const Form form : {Form::text, Form::count, Form::millis, Form::seconds, Form::minutes,
                          Form::duration, Form::instant, Form::yes_no, Form::json}) {
    EXPECT_EQ(word("\"soon\"", form), "soon");
    EXPECT_EQ(word("1.5e3", form), "1.5e3");
    EXPECT_EQ(word("[1]", form), "[1]");
  }
}

TEST(Spoken, has_the_two_largest_parts) {
  EXPECT_EQ(spoken(Millis{0}), "0 ms");
  EXPECT_EQ(spoken(Millis{999}), "999 ms");
  EXPECT_EQ(spoken(Millis{1'000}), "1 s");
  EXPECT_EQ(spoken(Millis{59'001}), "59.001 s");
  EXPECT_EQ(spoken(Millis{60'500}), "1 min");
  EXPECT_EQ(spoken(Millis{3'599'000}), "59 min 59 s");
  EXPECT_EQ(spoken(Millis{3'600'000}), "1 h");
  EXPECT_EQ(spoken(Millis{90'000'000}), "1 d 1 h");
}

TEST(MemberAt, goes_into_members) {
  const Result<wire::JsonDocument> document = wire::parse_json(R"({"a":{"b":{"c":7}},"d":null})");
  EXPECT_EQ(member_at(document->root(), "a.b.c").raw(), "7");
  EXPECT_FALSE(member_at(document->root(), "a.x.c"));
  EXPECT_FALSE(member_at(document->root(), "d.e"));
}

const View kView{.lines = {{"name", "name"},
                           {"since", "since", Form::instant},
                           {"where", "sink.url|sink.topic"}},
                 .rows = "list",
                 .columns = {{"key", "key"}, {"used", "used", Form::count}},
                 .none = "nothing yet"};

TEST(AnswerText, has_lines_and_then_a_table) {
  EXPECT_EQ(text_of(kView, R"({"name":"n","since":"2025-06-01T11:00:00.000Z","sink":{"topic":"t"},)"
                           R"("list":[{"key":"a","used":1000},{"key":"bcdef"}]})"),
            "name   n\n"
            "since  2025-06-01T11:00:00Z (1 h ago)\n"
            "where  t\n"
            "\n"
            "key     used\n"
            "a      1,000\n"
            "bcdef      -\n");
}

TEST(AnswerText, says_when_a_list_is_empty) {
  EXPECT_EQ(text_of(kView, R"({"name":"n","list":[]})"), "name  n\n\nnothing yet\n");
  const View list{.rows = ".", .columns = {{"a", "a"}}, .none = "none"};
  EXPECT_EQ(text_of(list, "[]"), "none\n");
  EXPECT_EQ(text_of(list, R"([{"a":"x"}])"), "a\nx\n");
}

TEST(AnswerText, survives_any_json) {
  for (const char* json : {"null", "5", "[]", "{}", "\"x\"", "[[]]", R"({"list":[1,null,[2]]})",
                           R"({"list":5,"since":3,"sink":[]})", R"({"since":"never"})"}) {
    EXPECT_FALSE(text_of(kView, json).empty()) << json;
  }
}

const View kList{.rows = ".", .columns = {{"key", "key"}, {"n", "n", Form::count}}, .none = "none"};
const View kKeys{.lines = {{"total", "total"}}, .rows = "keys", .columns = {{"key", "key"}}};

class PagePrinterTest : public testing::Test {
 protected:
  // What all pages together print; the last one has no successor.
  std::string shown(const View& view, bool json, std::uint64_t limit,
                    const std::vector<std::string>& pages) {
    std::string text;
    PagePrinter printer(view, json, limit, Instant{},
                        [&](const std::string& piece) { text += piece; });
    for (std::size_t i = 0; i < pages.size() && printer.wants_more(); ++i) {
      const Result<wire::JsonDocument> document = wire::parse_json(pages[i]);
      printer.page(document.value().root(), i + 1 < pages.size());
    }
    printer.end();
    left_some_ = printer.left_some();
    return text;
  }

  bool left_some_ = false;
};

const std::vector<std::string> kPages{R"([{"key":"a","n":1},{"key":"b","n":2}])",
                                      R"([{"key":"cc","n":1000}])"};

TEST_F(PagePrinterTest, makes_one_table_of_all_pages) {
  EXPECT_EQ(shown(kList, false, 10, kPages), "key  n\na    1\nb    2\ncc   1,000\n");
  EXPECT_FALSE(left_some_);
}

TEST_F(PagePrinterTest, makes_one_array_of_all_pages) {
  EXPECT_EQ(shown(kList, true, 10, kPages),
            "[{\"key\":\"a\",\"n\":1},{\"key\":\"b\",\"n\":2},{\"key\":\"cc\",\"n\":1000}]\n");
  EXPECT_EQ(shown(kList, true, 10, {"[]"}), "[]\n");
}

TEST_F(PagePrinterTest, keeps_what_stands_around_a_list) {
  const std::vector<std::string> pages{R"({"total":7,"keys":[{"key":"a"}]})",
                                       R"({"total":8,"keys":[{"key":"b"}]})"};
  EXPECT_EQ(shown(kKeys, true, 10, pages),
            "{\"total\":7,\"keys\":[{\"key\":\"a\"},{\"key\":\"b\"}]}\n");
  EXPECT_EQ(shown(kKeys, false, 10, pages), "total  7\n\nkey\na\nb\n");
}

TEST_F(PagePrinterTest, shows_no_more_than_was_asked_for_and_knows_it) {
  EXPECT_EQ(shown(kList, false, 1, kPages), "key  n\na    1\n");
  EXPECT_TRUE(left_some_);
  EXPECT_EQ(shown(kList, true, 2, kPages), "[{\"key\":\"a\",\"n\":1},{\"key\":\"b\",\"n\":2}]\n");
  EXPECT_TRUE(left_some_);
  shown(kList, true, 3, kPages);
  EXPECT_FALSE(left_some_);
}

TEST_F(PagePrinterTest, says_when_there_is_nothing) {
  EXPECT_EQ(shown(kList, false, 10, {"[]"}), "none\n");
}

TEST_F(PagePrinterTest, survives_any_json) {
  for (const char* json : {"null", "5", "{}", "[[]]", R"({"keys":3})", "[1,null]"}) {
    for (const View* view : {&kList, &kKeys}) {
      EXPECT_FALSE(shown(*view, false, 10, {json}).empty()) << json;
      EXPECT_FALSE(shown(*view, true, 10, {json}).empty()) << json;
    }
  }
}

}  // namespace

}  // namespace penstock::tool
