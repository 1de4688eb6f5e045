#include "tool/calls/call.h"

namespace penstock::tool {
namespace {

using enum Form;
using wire::route;

// clang-format off
View taken() {
  return {.lines = {{"payment", "paymentId"}, {"status", "status"}, {"reason", "reason"},
                    {"scheduled", "scheduledTime", instant}}};
}

Argument required_text(std::string_view names, std::string_view field, std::string_view value_name,
                       std::string_view help) {
  return {.names = std::string(names), .field = std::string(field), .help = std::string(help),
          .value_name = std::string(value_name), .required = true};
}

Call create_payment() {
  return {.name = "create", .route = &route("takePayment"),
          .note = "The same again changes nothing; a rule may hold or refuse it.",
          .examples = {"penstock payments create pay-1 --amount 12.50 --currency EUR --debtor-iban "
                       "DE89370400440532013000 --creditor-iban FR1420041010050500013M02606 --at "
                       "now+PT1H"},
          .arguments = {required_text("PAYMENT_ID", "paymentId", "", "Names it for good"),
                        required_text("--amount", "amount", "DECIMAL", "As decimal: 12.50"),
                        required_text("--currency", "currency", "CODE", "ISO 4217: EUR"),
                        required_text("--debtor-iban", "debtorIban", "IBAN", "Who pays"),
                        required_text("--creditor-iban", "creditorIban", "IBAN", "Who is paid"),
                        {.names = "--at", .field = "executionTime",
                         .help = "When: 2025-06-01T12:00:00Z, now, now+PT1H",
                         .kind = ArgumentKind::time, .fallback = "now"},
                        {.names = "--reference", .field = "reference",
                         .help = "For the people; at most 140 bytes"},
                        {.names = "--metadata", .field = "metadata",
                         .help = "An object for the executor: JSON text, @FILE, or - for standard "
                                 "input",
                         .kind = ArgumentKind::json}},
          .view = taken()};
}

Call payment_batch() {
  return {.name = "batch", .route = &route("takePayments"),
          .about = "Schedule up to 10,000 payments in one call.",
          .note = "For larger files, with progress and resume: penstock payments import.",
          .examples = {"penstock payments batch payments.csv",
                       "zcat payments.ndjson.gz | penstock payments batch - --json"},
          .body = BodySource::file,
          .csv = true,
          .view = {.rows = "results",
                   .columns = {{"payment", "paymentId"}, {"answer", "status"}, {"state", "state"},
                               {"scheduled", "scheduledTime", instant},
                               {"reason", "reason|message"}},
                   .none = "no entries"}};
}

}  // namespace

CallGroup payment_calls() {
  return {.words = "payments",
          .description = "Schedule and import payments, look them up, release held ones, set "
                         "rules.",
          .calls = {
      {.name = "get", .route = &route("getPayment"),
       .examples = {"penstock payments get pay-1", "penstock payments get pay-1 --json"},
       .view = {.words = payment_view}},
      {.name = "release", .route = &route("releasePayment"),
       .note = "It runs at its time, or at once if that has passed.",
       .examples = {"penstock payments release pay-1"},
       .view = {.words = payment_view}},
      create_payment(),
      payment_batch(),
      {.name = "list", .route = &route("listPayments"),
       .examples = {"penstock payments list --status HELD",
                    "penstock payments list --all --json"},
       .arguments = {{.names = "--status", .field = "status",
                      .help = "Only those that stand there", .place = Place::query,
                      .value_name = "SCHEDULED|ACCEPTED|PROCESSING|REJECTED|HELD|FAILED"}},
       .paged = true,
       .view = {.rows = ".",
                .columns = {{"payment", "paymentId"}, {"status", "status"},
                            {"scheduled", "scheduledTime", instant}, {"reason", "reason"}},
                .none = "no payments"}},
      {.name = "status", .route = &route("reportPayment"),
       .note = "As its executor does.",
       .examples = {"penstock payments status pay-1 ACCEPTED"},
       .arguments = {{.names = "STATUS", .field = "status", .help = "What became of it",
                      .value_name = "ACCEPTED|PROCESSING|FAILED", .required = true}},
       .view = taken()},
      {.name = "cancel", .route = &route("cancelPayment"),
       .examples = {"penstock payments cancel pay-1"},
       .view = taken()},
      {.name = "redrive", .route = &route("redrivePayment"),
       .note = "It is due at once, with no attempt used.",
       .examples = {"penstock payments redrive pay-1"},
       .view = taken()}}};
}

CallGroup payment_rule_calls() {
  return {.words = "payments rules",
          .description = "Read and replace the rules that payments must pass (needs the admin "
                         "token).",
          .calls = {
      {.name = "get", .route = &route("getPaymentRules"),
       .note = "In the order in which they are tried.",
       .examples = {"penstock payments rules get",
                    "penstock payments rules get --json > rules.json"},
       .view = {.words = rules_view}},
      {.name = "put", .route = &route("putPaymentRules"),
       .about = "Replace the rules by those of a file: a JSON array of {name, when, then, reason}.",
       .note = "`when` may name currency, amountAbove, debtorIban, creditorIban and country; "
               "`then` is reject or\n"
               "hold. The first rule that matches decides; what is accepted already stays "
               "accepted.",
       .examples = {"penstock payments rules put rules.json",
                    "echo '[]' | penstock payments rules put - --token-file admin.token"},
       .body = BodySource::file,
       .view = {.words = rules_view}}}};
}
// clang-format on

}  // namespace penstock::tool
