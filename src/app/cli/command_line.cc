#include "app/cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <sstream>

#include "app/cli/exit_code.h"
#include "app/config/nearest.h"

namespace penstock::app {
namespace {

constexpr std::size_t kColumnWidth = 38;  // fits "--admin-token-file FILE" with its default

// CLI11's help with air around the description and one line per command in a list.
class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(kColumnWidth); }

  std::string make_description(const CLI::App* app) const override {
    return app->get_description() + "\n\n";
  }

  std::string make_subcommand(const CLI::App* command) const override {
    const std::string description = command->get_description();
    std::ostringstream out;
    CLI::detail::format_help(out, command->get_display_name(true),
                             description.substr(0, description.find('\n')), kColumnWidth);
    return out.str();
  }
};

void describe(CLI::Option& option, const OptionHelp& help) {
  option.type_name(help.value_name);
  if (help.required) option.required();
  if (!help.environment.empty()) option.envname(help.environment);
  // An empty value is a variable that a script forgot to set; it must not pass for "not given".
  option.check([](const std::string& text) -> std::string {
    return text.empty() ? "must not be empty" : "";
  });
  if (help.check) {
    option.check([check = help.check](const std::string& text) -> std::string {
      const Result<void> verdict = check(text);
      return verdict ? std::string() : fmt::format("{}, not \"{}\"", verdict.error().what, text);
    });
  }
}

// What the first argument that nobody expected was probably meant to be.
std::string suggestion(const CLI::App& app, const CLI::App& chosen) {
  const std::vector<std::string> unexpected = app.remaining(true);
  if (unexpected.empty()) return {};
  std::vector<std::string> known;
  for (const CLI::App* command : chosen.get_subcommands({})) known.push_back(command->get_name());
  for (const CLI::Option* option : chosen.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  return fmt::format("The nearest to \"{}\" is {}.\n", unexpected.front(),
                     nearest_name(unexpected.front(), candidates));
}

const CLI::App& deepest(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  return chosen.empty() ? app : deepest(*chosen.front());
}

}  // namespace

struct Command::Actions {
  std::map<const CLI::App*, std::function<int()>> by_command;
};

Command Command::add(const std::string& name, const std::string& description,
                     const std::vector<std::string>& examples) {
  CLI::App* command = app_->add_subcommand(name, description);
  std::string footer;  // else the parent's would be taken over
  if (!examples.empty()) footer = examples.size() == 1 ? "Example:" : "Examples:";
  for (const std::string& example : examples) footer += "\n  " + example;
  command->footer(footer);
  return {*command, *actions_};
}

void Command::option(const OptionHelp& help, std::string& into) {
  CLI::Option* option = app_->add_option(help.names, into, help.help);
  if (!into.empty()) option->capture_default_str();
  describe(*option, help);
}

void Command::number(const OptionHelp& help, std::int64_t& into, std::int64_t min,
                     std::int64_t max) {
  CLI::Option* option = app_->add_option(help.names, into, help.help)->capture_default_str();
  option->check([min, max](const std::string& text) -> std::string {
    std::int64_t value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= min && value <= max) return {};
    return fmt::format("must be a whole number from {} to {}, not \"{}\"", min, max, text);
  });
  describe(*option, help);
}

void Command::flag(const std::string& names, const std::string& help, bool& into) {
  app_->add_flag(names, into, help);
}

void Command::action(std::function<int()> run) { actions_->by_command[app_] = std::move(run); }

CommandLine::CommandLine(const std::string& name, const std::string& description,
                         const std::string& footer)
    : app_(std::make_unique<CLI::App>(description, name)),
      actions_(std::make_unique<Command::Actions>()) {
  app_->footer(footer);
  app_->formatter(std::make_shared<HelpFormatter>());  // subcommands inherit it
}

CommandLine::~CommandLine() = default;

Command CommandLine::root() { return {*app_, *actions_}; }

int CommandLine::run(int argc, const char* const* argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help is asked for and goes to standard output; a mistake goes to standard error.
    if (app_->exit(error) == 0) return kExitOk;
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
      fmt::print(stderr, "{}", suggestion(*app_, deepest(*app_)));
    }
    return kExitUsage;
  }
  const CLI::App& chosen = deepest(*app_);
  const auto found = actions_->by_command.find(&chosen);
  if (found == actions_->by_command.end()) {
    fmt::print(stderr, "{}", app_->help());
    return kExitUsage;
  }
  return found->second();
}

}  // namespace penstock::app
