#include "cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/sample_tree.h"

namespace penstock::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(CommandTree, is_walked_in_order) {
  std::vector<std::string> paths;
  each_command(sample_tree(),
               [&](const std::string& path, const CommandNode&) { paths.push_back(path); });
  EXPECT_THAT(
      paths, ElementsAre("penstock", "penstock slots", "penstock slots import", "penstock report"));
}

TEST(Completable, knows_sets_files_and_folders) {
  EXPECT_EQ(completable({.names = {"--x"}, .value_name = "a|b|c"}), "a b c");
  EXPECT_EQ(completable({.names = {"--x"}, .value_name = "FILE"}), "@file");
  EXPECT_EQ(completable({.names = {"FILE"}, .positional = true}), "@file");
  EXPECT_EQ(completable({.names = {"--x"}, .value_name = "DIR"}), "@directory");
  EXPECT_EQ(completable({.names = {"--x"}, .value_name = "JSON"}), "@json");
  EXPECT_EQ(completable({.names = {"--x"}, .value_name = "COUNT"}), "");
}

TEST(ValuePlaces, name_options_and_positions) {
  std::vector<std::string> found;
  for (const ValuePlace& place : value_places(sample_tree())) {
    found.push_back(place.path + " " + place.what + ": " + place.values);
  }
  EXPECT_THAT(
      found,
      ElementsAre("penstock slots import 1: @file", "penstock slots import --format: csv ndjson",
                  "penstock slots import -f: csv ndjson", "penstock slots import --output: @file",
                  "penstock report 2: GOOD BAD", "penstock report --context: @json",
                  "penstock report --data-dir: @directory"));
}

TEST(ValuedOptions, are_those_with_a_value_of_any_command) {
  EXPECT_THAT(valued_options(sample_tree()),
              ElementsAre("--context", "--data-dir", "--format", "--output", "--url", "-f"));
}

TEST(ShellQuoted, ends_no_quote_early) {
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted(""), "''");
}

TEST(BashCompletion, has_commands_options_and_values) {
  const std::string script = bash_completion(sample_tree());
  EXPECT_THAT(script, HasSubstr("'penstock slots')\n      commands='import'"));
  EXPECT_THAT(script, HasSubstr("options='--format -f --output --json --url --help -h'"));
  EXPECT_THAT(script, HasSubstr("*' --format') values='csv ndjson' ;;"));
  EXPECT_THAT(script, HasSubstr("'penstock report 2') values='GOOD BAD' ;;"));
  EXPECT_THAT(script, HasSubstr("complete -F _penstock penstock\n"));
  EXPECT_THAT(script, Not(HasSubstr("{{")));
}

TEST(ZshCompletion, describes_what_it_offers) {
  const std::string script = zsh_completion(sample_tree());
  EXPECT_THAT(script, testing::StartsWith("#compdef penstock\n"));
  EXPECT_THAT(script, HasSubstr("commands+=('slots:A group.')"));
  EXPECT_THAT(script, HasSubstr("options+=('--url:Where it'\\''s')"));
  EXPECT_THAT(script, HasSubstr("'penstock slots import --format') values='csv ndjson' ;;"));
}

TEST(FishCompletion, describes_what_it_offers) {
  const std::string script = fish_completion(sample_tree());
  EXPECT_THAT(script, HasSubstr("complete -c penstock -n '__penstock_at penstock slots' -a import "
                                "-d 'Import a file.'\n"));
  EXPECT_THAT(script, HasSubstr("-l format -s f -x -a 'csv ndjson' -d 'Its form'\n"));
  EXPECT_THAT(script, HasSubstr("-l url -x -d 'Where it\\'s'\n"));
  EXPECT_THAT(script, HasSubstr("-l json -d 'Raw'\n"));
  EXPECT_THAT(script, HasSubstr("test (__penstock_position) -eq 2' -a 'GOOD BAD'\n"));
}

}  // namespace
}  // namespace penstock::cli
