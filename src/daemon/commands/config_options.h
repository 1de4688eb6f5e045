// The options by which commands find their settings: --config and the flags of the table.
#pragma once

#include <deque>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "daemon/config/load.h"

namespace penstock::daemon {

class ConfigOptions {
 public:
  // All flags of the table, or only the one of `only_key` ("data-dir"). This object must live until
  // the command has run.
  void add_to(cli::Command& command, std::string_view only_key = {});

  // Loads the config, or gives every problem.
  std::expected<LoadedConfig, std::vector<std::string>> try_load(bool read_secret_files) const;
  // Loads the config; prints every problem to standard error and gives nothing when there is one.
  std::optional<LoadedConfig> load(bool read_secret_files) const;

  const std::string& file() const noexcept { return file_; }

 private:
  std::string file_;
  std::deque<FlagValue> flags_;  // stable addresses: the command line writes into `text`
};

}  // namespace penstock::daemon
