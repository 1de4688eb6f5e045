#include "engine/mariadb/query.h"

#include <gtest/gtest.h>

#include <array>

namespace penstock::store::mariadb {
namespace {

TEST(Query, writes_values_in_place_of_the_marks_and_leaves_the_header_out) {
  const SqlFile file{"f",
                     "-- Caller: who? Index: none. Locks: none.\n-- More?\nSELECT ?, ?, ?, ?\n"};
  EXPECT_EQ(
      Query(file).bytes("a'b").number(std::int64_t{-7}).number(std::nullopt).boolean(true).text(),
      "SELECT x'612762', -7, NULL, 1");
  EXPECT_EQ(Query(file)
                .bytes("")
                .bytes(std::string_view("\0\xff", 2))
                .seconds(0.045)
                .number(std::int64_t{0})
                .text(),
            "SELECT x'', x'00ff', 0.045, 0");
}

TEST(Query, writes_a_list_in_place_of_one_mark) {
  const SqlFile file{"f", "SELECT 1 WHERE k IN (?) AND n = ?"};
  const std::array<std::string_view, 2> keys = {"a", "b"};
  EXPECT_EQ(Query(file).list(keys).number(std::int64_t{3}).text(),
            "SELECT 1 WHERE k IN (x'61',x'62') AND n = 3");
}

TEST(Query, repeats_a_row_with_all_that_stands_in_its_brackets) {
  const SqlFile file{"f", "INSERT (a, b) VALUES (?, F(?) + (1)) ON DUPLICATE KEY UPDATE b = ?"};
  const std::string text =
      Query(file)
          .rows(2,
                [](Query& row, std::size_t i) {
                  row.bytes(i == 0 ? "x" : "y").number(static_cast<std::int64_t>(i));
                })
          .number(std::int64_t{9})
          .text();
  EXPECT_EQ(text,
            "INSERT (a, b) VALUES (x'78', F(0) + (1)), (x'79', F(1) + (1)) ON DUPLICATE KEY UPDATE "
            "b = 9");
}

TEST(Sql, every_file_says_who_calls_it_which_index_it_uses_and_which_locks_it_takes) {
  for (const SqlFile& file : embedded_statements()) {
    const std::string text = file.text;
    EXPECT_TRUE(text.starts_with("-- Caller: ")) << file.name;
    EXPECT_NE(text.find("Index"), std::string::npos) << file.name;
    EXPECT_NE(text.find("ocks"), std::string::npos) << file.name;
    const std::size_t header_end = text.rfind("\n", text.rfind("-- "));
    EXPECT_EQ(text.find(';', header_end), std::string::npos) << file.name;
  }
}

TEST(Sql, migrations_are_numbered_without_gaps) {
  int number = 1;  // the baseline
  for (const SqlFile& file : embedded_migrations()) {
    EXPECT_EQ(migration_number(file), ++number) << file.name;
    EXPECT_TRUE(std::string(file.text).starts_with("-- Caller: ")) << file.name;
  }
}

}  // namespace
}  // namespace penstock::store::mariadb
