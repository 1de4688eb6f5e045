#include "engine/postgres/sql.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock::store::postgres {
namespace {

TEST(Sql, every_file_says_who_calls_it_which_index_it_uses_and_which_locks_it_takes) {
  for (const SqlFile& file : embedded_statements()) {
    const std::string text = file.text;
    EXPECT_TRUE(text.starts_with("-- Caller: ")) << file.name;
    EXPECT_NE(text.find("Index"), std::string::npos) << file.name;
    EXPECT_NE(text.find("ocks"), std::string::npos) << file.name;
    EXPECT_EQ(text.find(';'), std::string::npos) << file.name << " is more than one statement";
  }
}

TEST(Sql, migrations_are_numbered_without_gaps) {
  int number = 0;
  for (const SqlFile& file : embedded_migrations()) {
    EXPECT_EQ(std::stoi(file.name), ++number) << file.name;
    EXPECT_TRUE(std::string(file.text).starts_with("-- Caller: ")) << file.name;
  }
  EXPECT_GT(number, 0);
}

}  // namespace
}  // namespace penstock::store::postgres
