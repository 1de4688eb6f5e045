#include "cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <map>
#include <sstream>

#include "base/nearest.h"
#include "cli/exit_code.h"

namespace penstock::cli {
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

ValueCheck one_of(const std::string& choices) {
  return [words = split_names(choices, '|')](const std::string& text) -> Result<void> {
    if (std::ranges::find(words, text) != words.end()) return {};
    const std::vector<std::string> all_but_last(words.begin(), words.end() - 1);
    return fail(ErrorKind::invalid, fmt::format("must be {}{}{}", fmt::join(all_but_last, ", "),
                                                all_but_last.empty() ? "" : " or ", words.back()));
  };
}

struct Command::Actions {
  std::map<const CLI::App*, std::function<int()>> by_command;
};

Command Command::add(const std::string& name, const std::string& description,
                     const std::vector<std::string>& examples) {
  CLI::App* command = app_->add_subcommand(name, description);
  command->require_subcommand(0, 1);
  std::string footer;  // else the parent's would be taken over
  if (!examples.empty()) footer = examples.size() == 1 ? "Example:" : "Examples:";
  for (const std::string& example : examples) footer += "\n  " + example;
  command->footer(footer);
  node_->commands.push_back({.name = name, .description = description, .examples = examples});
  return {*command, *actions_, node_->commands.back()};
}

void Command::note(const OptionHelp& help, const std::string& fallback, bool repeated) {
  const std::vector<std::string> names = split_names(help.names, ',');
  node_->options.push_back({.names = names,
                            .value_name = help.value_name,
                            .help = help.help,
                            .fallback = fallback,
                            .environment = help.environment,
                            .required = help.required,
                            .repeated = repeated,
                            .positional = !names.front().starts_with('-')});
}

void Command::option(const OptionHelp& help, std::string& into) {
  note(help, into);
  CLI::Option* option = app_->add_option(help.names, into, help.help);
  if (!into.empty()) option->capture_default_str();
  describe(*option, help);
}

void Command::number(const OptionHelp& help, std::int64_t& into, std::int64_t min,
                     std::int64_t max) {
  note(help, help.required ? "" : fmt::format("{}", into));
  CLI::Option* option = app_->add_option(help.names, into, help.help)->capture_default_str();
  option->check([min, max](const std::string& text) -> std::string {
    std::int64_t value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= min && value <= max) return {};
    return fmt::format("must be a whole number from {} to {}, not \"{}\"", min, max, text);
  });
  describe(*option, help);
}

void Command::flag(const std::string& names, const std::string& help, bool& into) {
  note({.names = names, .value_name = {}, .help = help}, "");
  app_->add_flag(names, into, help);
}

void Command::version_flag(const std::string& line) {
  const OptionHelp help{
      .names = "--version", .value_name = {}, .help = "Print the version and exit"};
  note(help, "");
  app_->set_version_flag(help.names, line, help.help);
}

void Command::list(const OptionHelp& help, std::vector<std::string>& into, std::size_t max) {
  note(help, "", true);
  CLI::Option* option = app_->add_option(help.names, into, help.help);
  describe(*option, help);
  option->expected(help.required ? 1 : 0, static_cast<int>(max));
}

void Command::calls(const std::string& method, const std::string& path) {
  std::string footer = app_->get_footer();
  footer += node_->routes.empty() ? (footer.empty() ? "Calls " : "\n\nCalls ") : ", ";
  app_->footer(fmt::format("{}{} {}", footer, method, path));
  node_->routes.push_back({.method = method, .path = path});
}

void Command::action(std::function<int()> run) {
  node_->runs = true;
  actions_->by_command[app_] = std::move(run);
}

CommandLine::CommandLine(const std::string& name, const std::string& description,
                         const std::string& footer)
    : app_(std::make_unique<CLI::App>(description, name)),
      actions_(std::make_unique<Command::Actions>()),
      tree_{.name = name, .description = description} {
  app_->footer(footer);
  // One command a line: `config get payments` means a config of that name, not the command.
  app_->require_subcommand(0, 1);
  app_->formatter(std::make_shared<HelpFormatter>());  // subcommands inherit it
}

CommandLine::~CommandLine() = default;

Command CommandLine::root() { return {*app_, *actions_, tree_}; }

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

}  // namespace penstock::cli
