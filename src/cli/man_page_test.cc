#include "cli/man_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/sample_tree.h"

namespace penstock::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(RoffText, leaves_no_character_a_command) {
  EXPECT_EQ(roff_text(".SH 'x'"), "\\&.SH \\(aqx\\(aq");
  EXPECT_EQ(roff_text("a\n.b"), "a\n\\&.b");
  EXPECT_EQ(roff_text("--all C:\\x \"q\""), "\\-\\-all C:\\ex \\(dqq\\(dq");
}

TEST(RoffText, makes_words_in_back_quotes_bold) {
  EXPECT_EQ(roff_text("see `penstock serve`."), "see \\fBpenstock serve\\fR.");
  EXPECT_EQ(roff_text("`open"), "\\fBopen\\fR");
}

TEST(ManPage, has_every_command_option_and_exit_code) {
  const std::string page = man_page(sample_tree(), {.version = "1.2.3", .date = "2025-06-01"});
  EXPECT_THAT(page, HasSubstr(".TH PENSTOCK 1 \"2025-06-01\" \"penstock 1.2.3\""));
  EXPECT_THAT(page, HasSubstr(".SS \"penstock slots import\"\n"));
  EXPECT_THAT(page, HasSubstr("\\fB\\-\\-format\\fR, \\fB\\-f\\fR \\fIcsv|ndjson\\fR\nIts form."));
  EXPECT_THAT(page, HasSubstr("Default: http://x. Or by \\fBPENSTOCK_URL\\fR."));
  EXPECT_THAT(page, HasSubstr("Calls POST /slots/batch."));
  EXPECT_THAT(page, HasSubstr("\\&.not a macro"));
  for (const char* part :
       {".SH EXIT STATUS", "\\fB130\\fR", ".SH ENVIRONMENT", "PENSTOCK_TOKEN", ".SH FILES"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_THAT(page, Not(HasSubstr(".SS \"penstock slots\"\n")));  // only groups others
}

TEST(ManPage, has_the_options_of_no_command) {
  CommandNode root = sample_tree();
  root.options.push_back({.names = {"--version"}, .help = "Print the version"});
  EXPECT_THAT(man_page(root, {.version = "1", .date = "2025-06-01"}),
              HasSubstr(".TP\n\\fB\\-\\-version\\fR\nPrint the version.\n"));
}

TEST(ManPage, tells_what_many_commands_share_once) {
  CommandNode root = sample_tree();
  const CommandNode report = root.commands.back();
  for (int i = 0; i < 10; ++i) root.commands.push_back(report);
  const std::string page = man_page(root, {.version = "1", .date = "2025-06-01"});
  const std::size_t first = page.find("Where it\\(aqs");
  EXPECT_GT(page.find("Where it\\(aqs", first + 1), page.find(".SH ENVIRONMENT"));
  EXPECT_GT(first, page.find(".SH SHARED OPTIONS"));
}

}  // namespace
}  // namespace penstock::cli
