#include "cli/table.h"

#include <gtest/gtest.h>

namespace penstock::cli {
namespace {

TEST(Table, aligns_words_left_and_numbers_right) {
  Table table({{"key"}, {"used", Align::right}, {"note"}});
  const std::vector<Row> rows{{"a", "1,000", "x"}, {"longer", "7", ""}};
  table.fit(rows);
  EXPECT_EQ(table.header(), "key      used  note\n");
  EXPECT_EQ(table.line(rows[0]), "a       1,000  x\n");
  EXPECT_EQ(table.line(rows[1]), "longer      7\n");
}

TEST(Table, keeps_its_width_from_page_to_page) {
  Table table({{"key"}, {"n", Align::right}});
  table.fit(std::vector<Row>{{"abcdef", "100"}});
  table.fit(std::vector<Row>{{"a", "1"}});
  EXPECT_EQ(table.line({"a", "1"}), "a         1\n");
}

TEST(Table, counts_characters_and_not_bytes) {
  Table table({{"name"}, {"n", Align::right}});
  const std::vector<Row> rows{{"zażółć", "1"}, {"abcdef", "2"}};
  table.fit(rows);
  EXPECT_EQ(table.line(rows[0]), "zażółć  1\n");
  EXPECT_EQ(table.line(rows[1]), "abcdef  2\n");
}

TEST(Table, takes_rows_that_are_too_short_or_too_long) {
  Table table({{"a"}, {"b"}});
  const std::vector<Row> rows{{}, {"1"}, {"1", "2", "3"}};
  table.fit(rows);
  EXPECT_EQ(table.line(rows[0]), "\n");
  EXPECT_EQ(table.line(rows[1]), "1\n");
  EXPECT_EQ(table.line(rows[2]), "1  2\n");
}

TEST(FactLines, stand_under_each_other_without_empty_ones) {
  EXPECT_EQ(fact_lines(std::vector<Fact>{{"key", "a"}, {"a much longer one", ""}, {"limit", "5"}}),
            "key    a\nlimit  5\n");
  EXPECT_EQ(fact_lines({}), "");
}

TEST(OneLine, lets_no_text_speak_to_the_terminal) {
  EXPECT_EQ(one_line("plain ü text"), "plain ü text");
  EXPECT_EQ(one_line("a\nb\tc"), "a\\nb\\x09c");
  EXPECT_EQ(one_line("\x1b[31mred\x7f"), "\\x1b[31mred\\x7f");
  EXPECT_EQ(one_line("\xc2\x9b"
                     "1m"),
            "\\x9b1m");
  EXPECT_EQ(one_line("\xff\xc3"), "\\xff\\xc3");
}

}  // namespace
}  // namespace penstock::cli
