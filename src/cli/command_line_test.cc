#include "cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penstock::cli {
namespace {

using testing::HasSubstr;

// A program with one command and one group.
class CommandLineTest : public testing::Test {
 protected:
  CommandLineTest() {
    Command greet = line_.root().add("greet", "Say hello.", {"program greet world"});
    greet.option({.names = "NAME", .help = "whom", .required = true}, name_);
    greet.option({.names = "--tone",
                  .value_name = "TONE",
                  .help = "how",
                  .environment = "PENSTOCK_TEST_TONE",
                  .check = [](const std::string& text) -> Result<void> {
                    if (text == "loud" || text == "soft") return {};
                    return fail(ErrorKind::invalid, "must be loud or soft");
                  }},
                 tone_);
    greet.number({.names = "--times", .value_name = "COUNT", .help = "how often"}, times_, 1, 9);
    greet.flag("--json", "raw", json_);
    greet.action([this] {
      ++runs_;
      return 7;
    });
    Command group = line_.root().add("group", "A group.", {});
    group.add("inner", "Inside.", {}).action([] { return 8; });
  }

  int run(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "program");
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = line_.run(static_cast<int>(arguments.size()), arguments.data());
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return code;
  }

  CommandLine line_{"program", "A program.", "The end."};
  std::string name_;
  std::string tone_ = "soft";
  std::int64_t times_ = 1;
  bool json_ = false;
  int runs_ = 0;
  std::string out_;
  std::string err_;
};

TEST_F(CommandLineTest, runs_the_chosen_command) {
  EXPECT_EQ(run({"greet", "world", "--times", "3", "--json"}), 7);
  EXPECT_EQ(name_, "world");
  EXPECT_EQ(times_, 3);
  EXPECT_TRUE(json_);
  EXPECT_EQ(run({"group", "inner"}), 8);
}

TEST_F(CommandLineTest, prints_help_with_defaults_and_examples) {
  EXPECT_EQ(run({"greet", "--help"}), 0);
  for (const char* part : {"Say hello.", "NAME", "--tone TONE", "soft", "PENSTOCK_TEST_TONE",
                           "Example:\n  program greet world"}) {
    EXPECT_THAT(out_, HasSubstr(part));
  }
  EXPECT_EQ(run({"--help"}), 0);
  EXPECT_THAT(out_, HasSubstr("The end."));
}

TEST_F(CommandLineTest, refuses_mistakes_with_2_and_runs_nothing) {
  EXPECT_EQ(run({"greet"}), 2);
  EXPECT_EQ(run({"greet", "world", "--tonne", "soft"}), 2);
  EXPECT_THAT(err_, HasSubstr("The nearest to \"--tonne\" is --tone."));
  EXPECT_EQ(run({"gret", "world"}), 2);
  EXPECT_THAT(err_, HasSubstr("The nearest to \"gret\" is greet."));
  EXPECT_EQ(run({"greet", "world", "--times", "10"}), 2);
  EXPECT_THAT(err_, HasSubstr("must be a whole number from 1 to 9, not \"10\""));
  EXPECT_EQ(run({"greet", "world", "--tone", "shrill"}), 2);
  EXPECT_THAT(err_, HasSubstr("must be loud or soft, not \"shrill\""));
  EXPECT_EQ(run({"greet", "world", "--tone", ""}), 2);
  EXPECT_THAT(err_, HasSubstr("must not be empty"));
  EXPECT_EQ(runs_, 0);
}

TEST_F(CommandLineTest, takes_several_values) {
  std::vector<std::string> words;
  Command many = line_.root().add("many", "Many.", {});
  many.list({.names = "WORD", .help = "words", .required = true}, words, 3);
  many.number({.names = "--times", .value_name = "COUNT", .help = "how often"}, times_, -9, 9);
  many.action([] { return 0; });
  EXPECT_EQ(run({"many", "a", "b", "--times", "-3"}), 0);
  EXPECT_THAT(words, testing::ElementsAre("a", "b"));
  EXPECT_EQ(times_, -3);
  EXPECT_EQ(run({"many", "a", "group", "greet"}), 0);  // values may have the names of commands
  EXPECT_THAT(words, testing::ElementsAre("a", "group", "greet"));
  EXPECT_EQ(run({"many"}), 2);
  EXPECT_EQ(run({"many", "a", "b", "c", "d"}), 2);
}

TEST_F(CommandLineTest, keeps_what_was_added_as_a_tree) {
  line_.root().add("call", "Call.", {"program call"}).calls("GET", "/x");
  ASSERT_EQ(line_.tree().commands.size(), 3U);
  const CommandNode& greet = line_.tree().commands.front();
  EXPECT_TRUE(greet.runs);
  EXPECT_THAT(greet.examples, testing::ElementsAre("program greet world"));
  ASSERT_EQ(greet.options.size(), 4U);
  EXPECT_TRUE(greet.options[0].positional && greet.options[0].required);
  EXPECT_EQ(greet.options[1].fallback, "soft");
  EXPECT_EQ(greet.options[1].environment, "PENSTOCK_TEST_TONE");
  EXPECT_FALSE(greet.options[3].takes_value());
  EXPECT_EQ(line_.tree().commands.back().routes.front().path, "/x");
  EXPECT_EQ(run({"call", "--help"}), 0);
  EXPECT_THAT(out_, HasSubstr("Example:\n  program call\n\nCalls GET /x"));
}

TEST(OneOf, takes_the_words_of_its_set_only) {
  EXPECT_TRUE(one_of("a|b")("b"));
  EXPECT_EQ(one_of("a|b|c")("d").error().what, "must be a, b or c");
  EXPECT_EQ(one_of("a")("").error().what, "must be a");
}

TEST_F(CommandLineTest, shows_the_help_of_a_group_that_lacks_its_command) {
  EXPECT_EQ(run({"group"}), 2);
  EXPECT_THAT(err_, HasSubstr("Usage: program group"));
  EXPECT_THAT(err_, HasSubstr("inner"));
  EXPECT_EQ(run({}), 2);
  EXPECT_THAT(err_, HasSubstr("greet"));
}

}  // namespace
}  // namespace penstock::cli
