// What the exit code of `penstock` means, for all commands.
#pragma once

namespace penstock::app {

enum ExitCode : int {
  kExitOk = 0,
  kExitFailed = 1,         // the request was refused, or some lines failed
  kExitUsage = 2,          // the command line or the config is wrong; nothing was done
  kExitUnreachable = 3,    // the daemon could not be reached
  kExitInterrupted = 130,  // Ctrl-C, as shells say it
};

}  // namespace penstock::app
