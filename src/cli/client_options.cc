#include "cli/client_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/iso8601.h"
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
  http::Url url = PENSTOCK_TRY(http::parse_url(options.url));
  const Millis timeout = PENSTOCK_TRY(parse_duration(options.timeout));
  http::HttpClientOptions settings{
      .url = std::move(url), .token = {}, .ca_file = options.ca_file, .answer_timeout = timeout};
  if (!options.token_file.empty()) {
    runtime::SecretFile file = PENSTOCK_TRY(runtime::read_key_file(options.token_file));
    settings.token = std::move(file.secret);
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
  http::HttpClientOptions settings = PENSTOCK_TRY(client_settings(options));
  return http::HttpClient::make(std::move(settings));
}

void print_error(const std::string& sentence) { fmt::print(stderr, "penstock: {}\n", sentence); }

}  // namespace penstock::cli
