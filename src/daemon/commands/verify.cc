#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/client_options.h"
#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "daemon/commands/commands.h"
#include "engine/rocksdb/verify.h"
#include "runtime/clocks.h"

namespace penstock::daemon {
namespace {

constexpr std::uint64_t kMiB = 1024 * 1024;

struct VerifyArguments {
  std::string folder;
  bool accept_loss = false;
};

std::string read_so_far(const store::embedded::VerifyProgress& read) {
  return fmt::format("{} of {} tables, {} of {} MiB", read.tables, read.tables_total,
                     read.bytes / kMiB, read.bytes_total / kMiB);
}

int run_verify(const VerifyArguments& arguments) {
  const cli::Interrupt interrupt;
  cli::StatusLine progress;
  const auto verdict = store::embedded::verify_folder(
      arguments.folder, [&](const store::embedded::VerifyProgress& read) {
        progress.show("read " + read_so_far(read));
        return !interrupt.happened();
      });
  progress.clear();
  if (!verdict) return cli::print_error(verdict.error().what), cli::kExitFailed;
  for (const std::string& table : verdict->damaged) fmt::print("DAMAGED  {}\n", table);
  if (verdict->loss) fmt::print("LOST     {}\n", *verdict->loss);
  fmt::print("{}: read {}, the logs and the seal: {}\n", arguments.folder,
             read_so_far(verdict->read), verdict->good() ? "no damage" : "not good");
  if (interrupt.happened()) return cli::kExitInterrupted;
  if (!verdict->loss || !arguments.accept_loss)
    return verdict->good() ? cli::kExitOk : cli::kExitFailed;
  const runtime::SystemClock clock;
  if (const auto accepted = store::embedded::accept_loss(arguments.folder, clock); !accepted) {
    return cli::print_error(accepted.error().what), cli::kExitFailed;
  }
  fmt::print("{}: goes on without what is lost, and is sealed anew\n", arguments.folder);
  return verdict->damaged.empty() ? cli::kExitOk : cli::kExitFailed;
}

}  // namespace

void add_verify(cli::Command root) {
  cli::Command command = root.add(
      "verify",
      "Read every block of a data folder, and say what is damaged or missing.\n"
      "Reads all tables and logs against their checksums, and compares them with the file SEAL, in "
      "which\n"
      "the daemon notes each second up to where it has acknowledged writes. A daemon refuses a "
      "folder that\n"
      "holds less than its seal says: clients were promised the rest. Changes nothing, needs no "
      "config; no\n"
      "daemon may use the folder meanwhile. Exit code 0 when all is there, 1 when something is "
      "not.\n"
      "First put back what is missing, or restore a backup. If there is none, --accept-loss "
      "opens the\n"
      "folder with what is left and seals that: events that are lost get new slots when they come "
      "again,\n"
      "and lost items are not sent. Run it as the daemon's user. It does not repair damaged "
      "tables.",
      {"penstock verify /var/lib/penstock", "penstock verify /var/lib/penstock --accept-loss"});
  const auto arguments = std::make_shared<VerifyArguments>();
  command.option(
      {.names = "DATA_DIR", .help = "The data folder, with its daemon stopped", .required = true},
      arguments->folder);
  command.flag("--accept-loss", "After the report, go on without what logs or seal lack",
               arguments->accept_loss);
  command.action([arguments] { return run_verify(*arguments); });
}

}  // namespace penstock::daemon
