// What the exit code of `penstock` means, for all commands. The help, the man page and
// docs/command-line.md tell it from here.
#pragma once

#include <array>
#include <string_view>

namespace penstock::cli {

enum ExitCode : int {
  kExitOk = 0,
  kExitFailed = 1,         // the request was refused, or some lines failed
  kExitUsage = 2,          // the command line or the config is wrong; nothing was done
  kExitUnreachable = 3,    // the daemon could not be reached
  kExitInterrupted = 130,  // Ctrl-C, as shells say it
};

struct ExitMeaning {
  ExitCode code;
  std::string_view brief;    // a few words, for the help
  std::string_view meaning;  // for the man page and the docs
};

inline constexpr std::array<ExitMeaning, 5> kExitMeanings{{
    {kExitOk, "done", "done; also `--help`"},
    {kExitFailed, "refused, or some lines failed",
     "refused or failed: the daemon said no (a throttle check that is denied, a health check that "
     "is down), some entries of a batch or lines of an import failed or were rejected, the data "
     "folder could not be opened"},
    {kExitUsage, "wrong command line or config",
     "the command line or the configuration is wrong, and nothing was done; also `penstock` or a "
     "group alone, which print their help"},
    {kExitUnreachable, "the daemon could not be reached", "the daemon could not be reached"},
    {kExitInterrupted, "interrupted by Ctrl-C",
     "interrupted by Ctrl-C or SIGTERM (`slots import`, `payments import`, `slots prune`, "
     "`verify`, `bench`; "
     "the daemon, `demo downstream` and `top` end with 0)"},
}};

}  // namespace penstock::cli
