#include "engine/postgres/binary.h"

#include <gtest/gtest.h>

#include <string>

namespace penstock::store::postgres {
namespace {

TEST(Sql, every_file_says_who_calls_it_which_index_it_uses_and_which_locks_it_takes) {
  for (const auto& files : {embedded_statements(), embedded_functions(), embedded_views()}) {
    EXPECT_FALSE(files.empty());
    for (const SqlFile& file : files) {
      const std::string text = file.text;
      EXPECT_TRUE(text.starts_with("-- Caller: ")) << file.name;
      EXPECT_NE(text.find("Index"), std::string::npos) << file.name;
      EXPECT_NE(text.find("ocks"), std::string::npos) << file.name;
    }
  }
}

TEST(Sql, every_statement_is_one) {
  for (const SqlFile& file : embedded_statements()) {
    EXPECT_EQ(std::string(file.text).find(';'), std::string::npos) << file.name;
  }
}

TEST(Sql, every_function_has_a_file_of_its_name) {
  for (const SqlFile& file : embedded_functions()) {
    const std::string text = file.text;
    const std::string name = " " + std::string(file.name) + "(";
    EXPECT_TRUE(text.find("\nCREATE FUNCTION" + name) != std::string::npos ||
                text.find("\nCREATE PROCEDURE" + name) != std::string::npos)
        << file.name;
  }
}

TEST(Sql, migrations_are_numbered_without_gaps) {
  int number = 1;  // the baseline
  for (const SqlFile& file : embedded_migrations()) {
    EXPECT_EQ(std::stoi(file.name), ++number) << file.name;
    EXPECT_TRUE(std::string(file.text).starts_with("-- Caller: ")) << file.name;
  }
}

}  // namespace
}  // namespace penstock::store::postgres
