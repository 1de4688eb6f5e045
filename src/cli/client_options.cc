#include "cli/client_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/iso8601.h"
#include "cli/exit_code.h"
#include "engine/http/answer.h"
#include "runtime/secret_file.h"

namespace penstock::cli {
namespace {

template <class Parse>
auto checked_by(Parse parse) {
  return [parse](const std::string& text) -> Result<void> {
    if (auto value = parse(text); !value) return std::unexpected(std::move(value.error()));
    return {};
  };
}

}  // namespace

void add_client_options(Command& command, ClientOptions& options, const std::string& json_help) {
  command.option({.names = "--url",
                  .value_name = "URL",
                  .help = "Where the daemon listens",
                  .environment = "PENSTOCK_URL",
                  .check = checked_by(http::parse_url)},
                 options.url);
  command.option({.names = "--token-file",
                  .value_name = "FILE",
                  .help = "File with the bearer token; or PENSTOCK_TOKEN holds the token itself"},
                 options.token_file);
  command.option({.names = "--ca-file",
                  .value_name = "FILE",
                  .help = "PEM certificates to trust for https, instead of the machine's own"},
                 options.ca_file);
  add_answer_options(command, options, json_help);
}

void add_answer_options(Command& command, ClientOptions& options, const std::string& json_help) {
  command.option({.names = "--timeout",
                  .value_name = "DURATION",
                  .help = "How long an answer may take",
                  .check = checked_by(parse_duration)},
                 options.timeout);
  command.flag("--json", json_help, options.json);
}

Result<http::HttpClientOptions> client_settings(const ClientOptions& options) {
  Result<http::Url> url = http::parse_url(options.url);
  if (!url) return std::unexpected(std::move(url.error()));
  const Result<Millis> timeout = parse_duration(options.timeout);
  if (!timeout) return std::unexpected(timeout.error());
  http::HttpClientOptions settings{
      .url = *std::move(url), .token = {}, .ca_file = options.ca_file, .answer_timeout = *timeout};
  if (!options.token_file.empty()) {
    Result<runtime::SecretFile> file = runtime::read_key_file(options.token_file);
    if (!file) return std::unexpected(std::move(file.error()));
    settings.token = std::move(file->secret);
  } else if (const char* token = std::getenv("PENSTOCK_TOKEN"); token != nullptr) {
    settings.token = token;
    if (!std::ranges::all_of(settings.token, [](char c) { return c > 0x20 && c < 0x7f; })) {
      return fail(ErrorKind::invalid,
                  "PENSTOCK_TOKEN must be printable ASCII characters without spaces");
    }
  }
  return settings;
}

Result<std::unique_ptr<http::HttpClient>> make_client(const ClientOptions& options) {
  Result<http::HttpClientOptions> settings = client_settings(options);
  if (!settings) return std::unexpected(std::move(settings.error()));
  return http::HttpClient::make(*std::move(settings));
}

int call_and_print(const ClientOptions& options, const http::HttpCall& call,
                   const std::function<std::string(wire::JsonValue)>& text) {
  const Result<std::unique_ptr<http::HttpClient>> client = make_client(options);
  if (!client) return print_error(client.error().what), kExitUsage;
  const Result<http::HttpAnswer> answer = (*client)->call(call);
  if (!answer) return print_error(answer.error().what), kExitUnreachable;

  const bool done = answer->status >= 200 && answer->status < 300;
  if (options.json) {
    fmt::print("{}\n", answer->body);
    return done ? kExitOk : kExitFailed;
  }
  if (!done) return print_error(http::error_sentence(*answer)), kExitFailed;
  const Result<wire::JsonDocument> document = wire::parse_json(answer->body);
  if (!document) {
    print_error("the answer is not JSON; is --url the address of a Penstock daemon?");
    return kExitFailed;
  }
  fmt::print("{}", text(document->root()));
  return kExitOk;
}

void print_error(const std::string& sentence) { fmt::print(stderr, "penstock: {}\n", sentence); }

}  // namespace penstock::cli
