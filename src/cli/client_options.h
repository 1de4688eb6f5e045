// The options of commands that talk to a running daemon.
#pragma once

#include <memory>
#include <string>

#include "cli/command_line.h"
#include "engine/http/http_client.h"

namespace penstock::cli {

struct ClientOptions {
  std::string url = "http://127.0.0.1:8080";
  std::string token_file;
  std::string ca_file;
  std::string timeout = "PT30S";
  bool json = false;
};

// `options` must live until the command has run.
void add_client_options(Command& command, ClientOptions& options,
                        const std::string& json_help = "Print the daemon's answer as it is");

// Of them, --timeout and --json alone, for commands that talk another protocol.
void add_answer_options(Command& command, ClientOptions& options, const std::string& json_help);

// Takes the token from --token-file, else from PENSTOCK_TOKEN.
Result<http::HttpClientOptions> client_settings(const ClientOptions& options);

// What is wrong with the options is `invalid`. Connects at the first call.
Result<std::unique_ptr<http::HttpClient>> make_client(const ClientOptions& options);

// One line on standard error.
void print_error(const std::string& sentence);

}  // namespace penstock::cli
