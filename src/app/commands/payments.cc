#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>

#include "app/cli/exit_code.h"
#include "app/commands/client_options.h"
#include "app/commands/commands.h"
#include "app/commands/payment_views.h"

namespace penstock::app {
namespace {

constexpr const char* kRoute = "/api/v1/payments/";
constexpr const char* kRules = "/admin/payments/rules";
constexpr std::size_t kRulesBytesMax = 1024 * 1024;  // what the daemon reads

struct Arguments {
  ClientOptions client;
  std::string argument;
};

void add_get(Command payments) {
  Command command =
      payments.add("get", "Show a payment: what it says, where it stands, and how it came there.",
                   {"penstock payments get pay-1", "penstock payments get pay-1 --json"});
  const auto arguments = std::make_shared<Arguments>();
  command.option({.names = "PAYMENT_ID", .help = "The payment", .required = true},
                 arguments->argument);
  add_client_options(command, arguments->client);
  command.action([arguments] {
    const HttpCall call{.target = kRoute + percent_encoded(arguments->argument)};
    return call_and_print(arguments->client, call, payment_view);
  });
}

void add_release(Command payments) {
  Command command = payments.add(
      "release",
      "Let a payment go that a rule holds. It runs at its time, or at once if that has passed.",
      {"penstock payments release pay-1"});
  const auto arguments = std::make_shared<Arguments>();
  command.option({.names = "PAYMENT_ID", .help = "The payment", .required = true},
                 arguments->argument);
  add_client_options(command, arguments->client);
  command.action([arguments] {
    const HttpCall call{.method = "POST",
                        .target = kRoute + percent_encoded(arguments->argument) + "/release"};
    return call_and_print(arguments->client, call, payment_view);
  });
}

void add_rules_get(Command rules) {
  Command command =
      rules.add("get", "Print the rules, in the order in which they are tried.",
                {"penstock payments rules get", "penstock payments rules get --json > rules.json"});
  const auto arguments = std::make_shared<Arguments>();
  add_client_options(command, arguments->client);
  command.action(
      [arguments] { return call_and_print(arguments->client, {.target = kRules}, rules_view); });
}

Result<std::string> read_rules(const std::string& path) {
  std::ifstream file;
  if (path != "-") {
    file.open(path, std::ios::binary);
    if (!file) return fail(ErrorKind::invalid, "cannot read " + path);
  }
  std::istream& in = path == "-" ? std::cin : file;
  std::string text(kRulesBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (in.bad()) return fail(ErrorKind::invalid, "cannot read " + path);
  if (text.size() > kRulesBytesMax) {
    return fail(ErrorKind::invalid, path + " is larger than 1 MiB");
  }
  return text;
}

void add_rules_put(Command rules) {
  Command command = rules.add(
      "put",
      "Replace the rules by those of a file: a JSON array of {name, when, then, reason}.\n"
      "`when` may name currency, amountAbove, debtorIban, creditorIban and country; `then` is "
      "reject or\n"
      "hold. The first rule that matches decides; what is accepted already stays accepted.",
      {"penstock payments rules put rules.json",
       "echo '[]' | penstock payments rules put - --token-file admin.token"});
  const auto arguments = std::make_shared<Arguments>();
  command.option({.names = "FILE", .help = "The file; - is standard input", .required = true},
                 arguments->argument);
  add_client_options(command, arguments->client);
  command.action([arguments] {
    Result<std::string> body = read_rules(arguments->argument);
    if (!body) return print_error(body.error().what), static_cast<int>(kExitUsage);
    const HttpCall call{.method = "PUT", .target = kRules, .body = *std::move(body)};
    return call_and_print(arguments->client, call, rules_view);
  });
}

}  // namespace

void add_payments(Command root) {
  Command payments =
      root.add("payments", "Import payments, look them up, release held ones, set rules.", {});
  add_payments_import(payments);
  add_get(payments);
  add_release(payments);
  Command rules = payments.add(
      "rules", "Read and replace the rules that payments must pass (needs the admin token).", {});
  add_rules_get(rules);
  add_rules_put(rules);
}

}  // namespace penstock::app
