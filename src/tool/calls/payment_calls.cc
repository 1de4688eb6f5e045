#include <vector>

#include "tool/calls/calls.h"

namespace penstock::tool {
namespace {

View taken() {
  return {.lines = {{"payment", "paymentId"},
                    {"status", "status"},
                    {"reason", "reason"},
                    {"scheduled", "scheduledTime", Form::instant}}};
}

Argument required_text(std::string_view names, std::string_view field, std::string_view value_name,
                       std::string_view help) {
  return {.names = names, .field = field, .help = help, .value_name = value_name, .required = true};
}

Call create_payment() {
  return {.name = "create",
          .method = "POST",
          .path = "/api/v1/payments",
          .description =
              "Schedule a payment. The same again changes nothing; a rule may hold or\n"
              "refuse it.",
          .examples = {"penstock payments create pay-1 --amount 12.50 --currency EUR --debtor-iban "
                       "DE89370400440532013000 --creditor-iban FR1420041010050500013M02606 --at "
                       "now+PT1H"},
          .arguments = {required_text("PAYMENT_ID", "paymentId", "", "Names it for good"),
                        required_text("--amount", "amount", "DECIMAL", "As decimal: 12.50"),
                        required_text("--currency", "currency", "CODE", "ISO 4217: EUR"),
                        required_text("--debtor-iban", "debtorIban", "IBAN", "Who pays"),
                        required_text("--creditor-iban", "creditorIban", "IBAN", "Who is paid"),
                        {.names = "--at",
                         .field = "executionTime",
                         .help = "When: 2025-06-01T12:00:00Z, now, now+PT1H",
                         .kind = ArgumentKind::time,
                         .fallback = "now"},
                        {.names = "--reference",
                         .field = "reference",
                         .help = "For the people; at most 140 bytes"},
                        {.names = "--metadata",
                         .field = "metadata",
                         .help = "An object for the executor: JSON text, @FILE, or - for standard "
                                 "input",
                         .kind = ArgumentKind::json}},
          .view = taken()};
}

Call payment_batch() {
  return {.name = "batch",
          .method = "POST",
          .path = "/api/v1/payments/batch",
          .description =
              "Schedule up to 10,000 payments in one call.\n"
              "For larger files, with progress and resume: penstock payments import.",
          .examples = {"penstock payments batch payments.csv",
                       "zcat payments.ndjson.gz | penstock payments batch - --json"},
          .body = BodySource::entries,
          .csv = true,
          .view = {.rows = "results",
                   .columns = {{"payment", "paymentId"},
                               {"answer", "status"},
                               {"state", "state"},
                               {"scheduled", "scheduledTime", Form::instant},
                               {"reason", "reason|message"}},
                   .none = "no entries"}};
}

Call list_payments() {
  return {
      .name = "list",
      .method = "GET",
      .path = "/api/v1/payments",
      .description = "List payments in the order of their ids.",
      .examples = {"penstock payments list --status HELD", "penstock payments list --all --json"},
      .arguments = {{.names = "--status",
                     .field = "status",
                     .help = "Only those that stand there",
                     .place = Place::query,
                     .value_name = "SCHEDULED|ACCEPTED|PROCESSING|REJECTED|HELD|FAILED"}},
      .paged = true,
      .view = {.rows = ".",
               .columns = {{"payment", "paymentId"},
                           {"status", "status"},
                           {"scheduled", "scheduledTime", Form::instant},
                           {"reason", "reason"}},
               .none = "no payments"}};
}

Call report() {
  return {.name = "status",
          .method = "POST",
          .path = "/api/v1/payments/{paymentId}/status",
          .description = "Report how the execution of a payment goes, as its executor does.",
          .examples = {"penstock payments status pay-1 ACCEPTED"},
          .arguments = {{.names = "PAYMENT_ID",
                         .field = "paymentId",
                         .help = "The payment",
                         .place = Place::path,
                         .required = true},
                        {.names = "STATUS",
                         .field = "status",
                         .help = "What became of it",
                         .value_name = "ACCEPTED|PROCESSING|FAILED",
                         .required = true}},
          .view = taken()};
}

Call move(std::string_view name, std::string_view path, std::string_view description,
          std::string_view example) {
  return {.name = name,
          .method = "POST",
          .path = path,
          .description = description,
          .examples = {example},
          .arguments = {{.names = "PAYMENT_ID",
                         .field = "paymentId",
                         .help = "The payment",
                         .place = Place::path,
                         .required = true}},
          .view = taken()};
}

}  // namespace

std::span<const Call> payment_calls() {
  static const std::vector<Call> calls{
      create_payment(),
      payment_batch(),
      list_payments(),
      report(),
      move("cancel", "/api/v1/payments/{paymentId}/cancel",
           "Cancel a payment that still waits in the queue.", "penstock payments cancel pay-1"),
      move("redrive", "/api/v1/payments/{paymentId}/redrive",
           "Try a failed payment again: it is due at once, with no attempt used.",
           "penstock payments redrive pay-1")};
  return calls;
}

}  // namespace penstock::tool
