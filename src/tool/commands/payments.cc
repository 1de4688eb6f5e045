#include <fmt/format.h>

#include <memory>

#include "cli/client_options.h"
#include "cli/exit_code.h"
#include "cli/input_text.h"
#include "tool/calls/call_command.h"
#include "tool/calls/calls.h"
#include "tool/commands/commands.h"
#include "tool/commands/payment_views.h"

namespace penstock::tool {
namespace {

constexpr const char* kPaymentsRoute = "/api/v1/payments/";
constexpr const char* kRules = "/admin/payments/rules";
constexpr std::size_t kRulesBytesMax = 1024 * 1024;  // what the daemon reads

struct PaymentsArguments {
  cli::ClientOptions client;
  std::string argument;
};

void add_get(cli::Command payments) {
  cli::Command command =
      payments.add("get", "Show a payment: what it says, where it stands, and how it came there.",
                   {"penstock payments get pay-1", "penstock payments get pay-1 --json"});
  const auto arguments = std::make_shared<PaymentsArguments>();
  command.option({.names = "PAYMENT_ID", .help = "The payment", .required = true},
                 arguments->argument);
  cli::add_client_options(command, arguments->client);
  command.calls("GET", "/api/v1/payments/{paymentId}");
  command.action([arguments] {
    const http::HttpCall call{.target =
                                  kPaymentsRoute + http::percent_encoded(arguments->argument)};
    return cli::call_and_print(arguments->client, call, payment_view);
  });
}

void add_release(cli::Command payments) {
  cli::Command command = payments.add(
      "release",
      "Let a payment go that a rule holds. It runs at its time, or at once if that has passed.",
      {"penstock payments release pay-1"});
  const auto arguments = std::make_shared<PaymentsArguments>();
  command.option({.names = "PAYMENT_ID", .help = "The payment", .required = true},
                 arguments->argument);
  cli::add_client_options(command, arguments->client);
  command.calls("POST", "/api/v1/payments/{paymentId}/release");
  command.action([arguments] {
    const http::HttpCall call{
        .method = "POST",
        .target = kPaymentsRoute + http::percent_encoded(arguments->argument) + "/release"};
    return cli::call_and_print(arguments->client, call, payment_view);
  });
}

void add_rules_get(cli::Command rules) {
  cli::Command command =
      rules.add("get", "Print the rules, in the order in which they are tried.",
                {"penstock payments rules get", "penstock payments rules get --json > rules.json"});
  const auto arguments = std::make_shared<PaymentsArguments>();
  cli::add_client_options(command, arguments->client);
  command.calls("GET", kRules);
  command.action([arguments] {
    return cli::call_and_print(arguments->client, {.target = kRules}, rules_view);
  });
}

void add_rules_put(cli::Command rules) {
  cli::Command command = rules.add(
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
  cli::add_client_options(command, arguments->client);
  command.calls("PUT", kRules);
  command.action([arguments] {
    Result<std::string> body = cli::read_whole(arguments->argument, kRulesBytesMax);
    if (!body) return cli::print_error(body.error().what), static_cast<int>(cli::kExitUsage);
    const http::HttpCall call{.method = "PUT", .target = kRules, .body = *std::move(body)};
    return cli::call_and_print(arguments->client, call, rules_view);
  });
}

}  // namespace

void add_payments(cli::Command root) {
  cli::Command payments = root.add(
      "payments", "Schedule and import payments, look them up, release held ones, set rules.", {});
  add_payments_import(payments);
  add_get(payments);
  add_release(payments);
  add_calls(payments, payment_calls());
  cli::Command rules = payments.add(
      "rules", "Read and replace the rules that payments must pass (needs the admin token).", {});
  add_rules_get(rules);
  add_rules_put(rules);
}

}  // namespace penstock::tool
