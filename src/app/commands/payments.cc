#include <fmt/format.h>

#include <memory>

#include "app/calls/call_command.h"
#include "app/calls/calls.h"
#include "app/cli/exit_code.h"
#include "app/cli/input_text.h"
#include "app/commands/client_options.h"
#include "app/commands/commands.h"
#include "app/commands/payment_views.h"

namespace penstock::app {
namespace {

constexpr const char* kPaymentsRoute = "/api/v1/payments/";
constexpr const char* kRules = "/admin/payments/rules";
constexpr std::size_t kRulesBytesMax = 1024 * 1024;  // what the daemon reads

struct PaymentsArguments {
  ClientOptions client;
  std::string argument;
};

void add_get(Command payments) {
  Command command =
      payments.add("get", "Show a payment: what it says, where it stands, and how it came there.",
                   {"penstock payments get pay-1", "penstock payments get pay-1 --json"});
  const auto arguments = std::make_shared<PaymentsArguments>();
  command.option({.names = "PAYMENT_ID", .help = "The payment", .required = true},
                 arguments->argument);
  add_client_options(command, arguments->client);
  command.calls("GET", "/api/v1/payments/{paymentId}");
  command.action([arguments] {
    const HttpCall call{.target = kPaymentsRoute + percent_encoded(arguments->argument)};
    return call_and_print(arguments->client, call, payment_view);
  });
}

void add_release(Command payments) {
  Command command = payments.add(
      "release",
      "Let a payment go that a rule holds. It runs at its time, or at once if that has passed.",
      {"penstock payments release pay-1"});
  const auto arguments = std::make_shared<PaymentsArguments>();
  command.option({.names = "PAYMENT_ID", .help = "The payment", .required = true},
                 arguments->argument);
  add_client_options(command, arguments->client);
  command.calls("POST", "/api/v1/payments/{paymentId}/release");
  command.action([arguments] {
    const HttpCall call{
        .method = "POST",
        .target = kPaymentsRoute + percent_encoded(arguments->argument) + "/release"};
    return call_and_print(arguments->client, call, payment_view);
  });
}

void add_rules_get(Command rules) {
  Command command =
      rules.add("get", "Print the rules, in the order in which they are tried.",
                {"penstock payments rules get", "penstock payments rules get --json > rules.json"});
  const auto arguments = std::make_shared<PaymentsArguments>();
  add_client_options(command, arguments->client);
  command.calls("GET", kRules);
  command.action(
      [arguments] { return call_and_print(arguments->client, {.target = kRules}, rules_view); });
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
  const auto arguments = std::make_shared<PaymentsArguments>();
  command.option({.names = "FILE", .help = "The file; - is standard input", .required = true},
                 arguments->argument);
  add_client_options(command, arguments->client);
  command.calls("PUT", kRules);
  command.action([arguments] {
    Result<std::string> body = read_whole(arguments->argument, kRulesBytesMax);
    if (!body) return print_error(body.error().what), static_cast<int>(kExitUsage);
    const HttpCall call{.method = "PUT", .target = kRules, .body = *std::move(body)};
    return call_and_print(arguments->client, call, rules_view);
  });
}

}  // namespace

void add_payments(Command root) {
  Command payments = root.add(
      "payments", "Schedule and import payments, look them up, release held ones, set rules.", {});
  add_payments_import(payments);
  add_get(payments);
  add_release(payments);
  add_calls(payments, payment_calls());
  Command rules = payments.add(
      "rules", "Read and replace the rules that payments must pass (needs the admin token).", {});
  add_rules_get(rules);
  add_rules_put(rules);
}

}  // namespace penstock::app
