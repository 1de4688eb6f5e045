#include "tool/commands/import_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/iso8601.h"
#include "cli/exit_code.h"
#include "wire/batch.h"

namespace penstock::tool {

void add_import_options(cli::Command& command, ImportArguments& arguments) {
  command.option({.names = "FILE", .help = "The file; - is standard input", .required = true},
                 arguments.file);
  command.option({.names = "--format",
                  .value_name = "csv|ndjson",
                  .help = "Form of the file; without it, by the name (.csv, .ndjson, .jsonl)",
                  .check = cli::one_of("csv|ndjson")},
                 arguments.format);
  command.number({.names = "--batch", .value_name = "LINES", .help = "Lines in one request"},
                 arguments.batch, 1, static_cast<std::int64_t>(wire::kBatchEntriesMax));
  command.number(
      {.names = "--concurrency", .value_name = "COUNT", .help = "Requests in flight at once"},
      arguments.concurrency, 1, 64);
  command.option({.names = "--retry-for",
                  .value_name = "DURATION",
                  .help = "Wait this long for a daemon that is down or refuses, then give up"},
                 arguments.retry_for);
}

Result<ImportFormat> format_of(const ImportArguments& arguments) {
  std::string name = arguments.format;
  if (name.empty()) {
    name = std::filesystem::path(arguments.file).extension().string();
    if (name.starts_with('.')) name.erase(0, 1);
  }
  if (name == "csv") return ImportFormat::csv;
  if (name == "ndjson" || name == "jsonl") return ImportFormat::ndjson;
  return fail(ErrorKind::invalid,
              fmt::format("cannot tell the format of {}: give --format csv or --format ndjson",
                          arguments.file == "-" ? "standard input" : arguments.file));
}

Result<ImportClients> import_clients(const ImportArguments& arguments) {
  const Result<http::HttpClientOptions> settings = cli::client_settings(arguments.client);
  if (!settings) return std::unexpected(settings.error());
  ImportClients clients;
  for (std::int64_t i = 0; i < arguments.concurrency; ++i) {
    Result<std::unique_ptr<http::HttpClient>> client = http::HttpClient::make(*settings);
    if (!client) return std::unexpected(std::move(client.error()));
    clients.push_back(*std::move(client));
  }
  return clients;
}

std::function<SendBatch()> senders(ImportClients& clients, const std::string& route) {
  return [&clients, route] {
    const std::shared_ptr<http::HttpClient> client = clients.back();
    clients.pop_back();
    return [client, route](const std::string& body) {
      return client->call({.method = "POST",
                           .target = route,
                           .body = body,
                           .content_type = "application/x-ndjson"});
    };
  };
}

Result<ImportOptions> import_options(const ImportArguments& arguments) {
  const Result<Millis> retry_for = parse_duration(arguments.retry_for);
  if (!retry_for) return fail(ErrorKind::invalid, "--retry-for: " + retry_for.error().what);
  return ImportOptions{.batch_lines = static_cast<std::size_t>(arguments.batch),
                       .concurrency = static_cast<std::size_t>(arguments.concurrency),
                       .patience = {.before_first_answer = std::min<Millis>(Seconds{5}, *retry_for),
                                    .after = *retry_for}};
}

int exit_code_of(const ImportOutcome& outcome) {
  switch (outcome.stop.end) {
    case ImportEnd::complete:
      return outcome.tally.not_taken() == 0 ? cli::kExitOk : cli::kExitFailed;
    case ImportEnd::interrupted:
      return cli::kExitInterrupted;
    case ImportEnd::unreachable:
      return cli::kExitUnreachable;
    case ImportEnd::refused:
    case ImportEnd::input_broken:
    case ImportEnd::output_broken:
      break;
  }
  return cli::kExitFailed;
}

void ImportDisplay::show(const ImportTally& tally, std::uint64_t bytes,
                         const std::string& waiting_for) {
  if (!line_.due()) return;
  const ProgressView view{.lines = tally.taken() + tally.not_taken() - lines_before_,
                          .failed = tally.not_taken(),
                          .bytes = bytes,
                          .bytes_total = bytes_total_,
                          .seconds = line_.seconds(),
                          .bytes_before = bytes_before_,
                          .waiting_for = waiting_for};
  line_.show(progress_line(view, line_.width()));
}

}  // namespace penstock::tool
