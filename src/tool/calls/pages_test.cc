#include "tool/calls/pages.h"

#include <gtest/gtest.h>

namespace penstock::tool {
namespace {

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
