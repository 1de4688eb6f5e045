// What the import commands have in common: their options, the calls, the progress line, the exit
// code.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/client_options.h"
#include "cli/command_line.h"
#include "cli/terminal.h"
#include "tool/import/importer.h"

namespace penstock::tool {

struct ImportArguments {
  cli::ClientOptions client;
  std::string file;
  std::string format;
  std::int64_t batch = 1'000;
  std::int64_t concurrency = 4;
  std::string retry_for = "PT2M";
};

// FILE and the options of ImportArguments, without those of the client. `arguments` must live until
// the command has run.
void add_import_options(cli::Command& command, ImportArguments& arguments);

// --format, else by the name.
Result<ImportFormat> format_of(const ImportArguments& arguments);

using ImportClients = std::vector<std::shared_ptr<http::HttpClient>>;
// One for each batch in flight.
Result<ImportClients> import_clients(const ImportArguments& arguments);
// Gives each caller a client of its own; `clients` must outlive it.
std::function<SendBatch()> senders(ImportClients& clients, const std::string& route);

Result<ImportOptions> import_options(const ImportArguments& arguments);
int exit_code_of(const ImportOutcome& outcome);

// The progress line of an import, on a terminal.
class ImportDisplay {
 public:
  ImportDisplay(std::optional<std::uint64_t> bytes_total, std::uint64_t lines_before)
      : bytes_total_(bytes_total), lines_before_(lines_before) {}

  void show(const ImportTally& tally, std::uint64_t bytes, const std::string& waiting_for);
  void clear() const { line_.clear(); }
  double seconds() const { return line_.seconds(); }
  // So much of the input was passed over.
  void start_at(std::uint64_t bytes) { bytes_before_ = bytes; }

 private:
  const std::optional<std::uint64_t> bytes_total_;
  const std::uint64_t lines_before_;
  std::uint64_t bytes_before_ = 0;
  cli::StatusLine line_;
};

}  // namespace penstock::tool
