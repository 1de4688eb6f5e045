#include "engine/sql/schema.h"

#include <gtest/gtest.h>

namespace penstock::store {
namespace {

constexpr SqlFile kLater[] = {{"0002_two", "SECOND"}, {"0003_three", "THIRD"}};

// A program at version 3, and the scripts that it ran.
struct Program {
  Result<MigrationReport> migrate(std::int32_t found) {
    return migrate_from(found, {.baseline = "FIRST", .migrations = kLater},
                        [this](const SchemaStep& step) -> Result<void> {
                          if (step.version == fails_at) return fail(ErrorKind::timeout, "locked");
                          ran += std::to_string(step.version) + std::string(step.script) + " ";
                          return {};
                        });
  }
  std::int32_t fails_at = 0;
  std::string ran;
};

TEST(Schema, a_new_one_gets_the_baseline_and_then_every_migration) {
  Program program;
  const auto report = program.migrate(0);
  ASSERT_TRUE(report);
  EXPECT_EQ(program.ran, "1FIRST 2SECOND 3THIRD ");
  EXPECT_EQ(report->from_version, 0);
  EXPECT_EQ(report->to_version, 3);
  EXPECT_EQ(report->applied, (std::vector<std::string>{"0001_baseline", "0002_two", "0003_three"}));
}

TEST(Schema, an_old_one_gets_what_it_lacks) {
  Program program;
  ASSERT_TRUE(program.migrate(2));
  EXPECT_EQ(program.ran, "3THIRD ");
  ASSERT_TRUE(program.migrate(3));
  EXPECT_EQ(program.ran, "3THIRD ");
}

TEST(Schema, a_newer_one_is_left_alone) {
  Program program;
  const auto report = program.migrate(4);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::conflict);
  EXPECT_NE(report.error().what.find("newer"), std::string::npos);
  EXPECT_EQ(program.ran, "");
}

TEST(Schema, a_step_that_fails_ends_the_migration_and_is_named) {
  Program program{.fails_at = 2};
  const auto report = program.migrate(0);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().what, "migration 0002_two: locked");
  EXPECT_EQ(program.ran, "1FIRST ");
}

TEST(Schema, the_baseline_alone_is_version_1) {
  EXPECT_EQ((Schema{.baseline = "FIRST", .migrations = {}}.version()), 1);
}

TEST(Schema, a_program_works_with_its_own_version_only) {
  EXPECT_TRUE(check_schema_version(2, 2));
  for (const std::int32_t found : {0, 1}) {
    const auto older = check_schema_version(found, 2);
    ASSERT_FALSE(older);
    EXPECT_NE(older.error().what.find("penstock migrate"), std::string::npos);
  }
  const auto newer = check_schema_version(3, 2);
  ASSERT_FALSE(newer);
  EXPECT_NE(newer.error().what.find("newer"), std::string::npos);
}

}  // namespace
}  // namespace penstock::store
