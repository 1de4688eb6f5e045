#include <fmt/format.h>

#include <memory>
#include <thread>

#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/output_file.h"
#include "tool/commands/commands.h"
#include "tool/commands/import_command.h"
#include "wire/json.h"

namespace penstock::tool {
namespace {

constexpr std::uint64_t kFailuresShownMax = 10;  // without --errors; the summary counts them all

struct SlotsImportArguments {
  ImportArguments import;
  std::string errors;
  std::string output;
};

// Writes each line's fate to --output or --errors, as far as they were asked for.
class LineReports {
 public:
  Result<void> open(const SlotsImportArguments& arguments) {
    for (const auto& [path, into] :
         {std::pair{&arguments.output, &output_}, std::pair{&arguments.errors, &errors_}}) {
      if (path->empty()) continue;
      Result<cli::OutputFile> file = cli::OutputFile::open(*path);
      if (!file) return std::unexpected(std::move(file.error()));
      *into = std::make_unique<cli::OutputFile>(*std::move(file));
    }
    return {};
  }

  Result<void> line(const Record& record, const LineAnswer& answer, const ImportDisplay& display) {
    if (answer.taken()) return output_ ? output_->write(answer.json + "\n") : Result<void>();
    if (!errors_) {
      if (shown_ == kFailuresShownMax) {
        cli::print_error("more lines fail; --errors FILE keeps them all");
      } else if (shown_ < kFailuresShownMax) {
        display.clear();
        cli::print_error(fmt::format("line {}: {}", record.line, answer.reason));
      }
      ++shown_;
      return {};
    }
    wire::JsonWriter out;
    out.begin_object()
        .member("line", static_cast<std::int64_t>(record.line))
        .member("reason", answer.reason)
        .member("input", record.input)
        .end_object();
    return errors_->write(std::move(out).take() + "\n");
  }

  Result<void> close() {
    for (cli::OutputFile* file : {output_.get(), errors_.get()}) {
      if (file == nullptr) continue;
      if (Result<void> closed = file->close(); !closed) return closed;
    }
    return {};
  }

 private:
  std::unique_ptr<cli::OutputFile> output_;
  std::unique_ptr<cli::OutputFile> errors_;
  std::uint64_t shown_ = 0;
};

void print_summary(const SlotsImportArguments& arguments, const ImportOutcome& outcome,
                   double seconds) {
  // Results on standard output must stay a clean stream.
  std::FILE* to = arguments.output == "-" || arguments.errors == "-" ? stderr : stdout;
  fmt::print(to, "{}",
             arguments.import.client.json ? summary_json(outcome.tally, seconds)
                                          : summary_text(outcome.tally, seconds));
  if (!outcome.stop.why.empty()) cli::print_error(outcome.stop.why);
  if (outcome.stop.end != ImportEnd::complete) {
    cli::print_error(
        "the import is not complete; run it again: events that have a slot keep it and cost "
        "nothing");
  }
}

int run_slots_import(const SlotsImportArguments& arguments) {
  const auto refuse = [](const std::string& why) { return cli::print_error(why), cli::kExitUsage; };
  const Result<ImportFormat> format = format_of(arguments.import);
  if (!format) return refuse(format.error().what);
  Result<ImportClients> clients = import_clients(arguments.import);
  if (!clients) return refuse(clients.error().what);
  const Result<ImportOptions> options = import_options(arguments.import);
  if (!options) return refuse(options.error().what);

  const cli::Interrupt interrupt;
  const std::string& file = arguments.import.file;
  Result<std::unique_ptr<ByteSource>> source = open_source(file, interrupt.flag());
  if (!source) return refuse(source.error().what);
  TextInput input(*std::move(source));
  const Result<std::unique_ptr<RecordReader>> records = read_records(*format, input, slot_fields());
  if (!records) return refuse(fmt::format("{}: {}", file, records.error().what));
  LineReports reports;
  if (const Result<void> opened = reports.open(arguments); !opened) {
    return refuse(opened.error().what);
  }

  ImportDisplay display(size_of_file(file), 0);
  const ImportHooks hooks{
      .make_sender = senders(*clients, "/api/v1/slots/batch"),
      .stopped = [&] { return interrupt.happened(); },
      .sleep = [](Millis delay) { std::this_thread::sleep_for(delay); },
      .bytes_read = [&] { return input.bytes_read(); },
      .on_line = [&](const Record& record,
                     const LineAnswer& answer) { return reports.line(record, answer, display); },
      .on_progress = [&](const ImportTally& tally, std::uint64_t bytes,
                         const std::string& waiting) -> Result<void> {
        display.show(tally, bytes, waiting);
        return {};
      }};
  ImportOutcome outcome = Importer(*options, hooks).run(**records);
  display.clear();
  if (const Result<void> closed = reports.close(); !closed) {
    outcome.stop = {ImportEnd::output_broken, closed.error().what};
  }
  print_summary(arguments, outcome, display.seconds());
  return exit_code_of(outcome);
}

}  // namespace

void add_slots_import(cli::Command slots) {
  cli::Command command =
      slots.add("import",
                "Assign a slot to every event of a CSV or NDJSON file, through the batch route.\n"
                "Fields: eventId, requestedTime, and optionally configName and maxDelay; the first "
                "line of a\n"
                "CSV file names them. Safe to repeat: events that have a slot keep it. Restarts "
                "and overload of\n"
                "the daemon are waited out. Exit code 1 when any line failed.",
                {"penstock slots import events.csv",
                 "penstock slots import events.ndjson --errors failed.ndjson --output slots.ndjson",
                 "zcat events.csv.gz | penstock slots import - --format csv"});
  const auto arguments = std::make_shared<SlotsImportArguments>();
  add_import_options(command, arguments->import);
  command.option(
      {.names = "--errors",
       .value_name = "FILE",
       .help = "Write failed lines as NDJSON {line, reason, input}; without it, the first "
               "ten are shown"},
      arguments->errors);
  command.option(
      {.names = "--output",
       .value_name = "FILE",
       .help = "Write the slots as NDJSON, in the order of the file; - is standard output"},
      arguments->output);
  cli::add_client_options(command, arguments->import.client,
                          "Print the summary as one JSON object");
  command.calls("POST", "/api/v1/slots/batch");
  command.action([arguments] { return run_slots_import(*arguments); });
}

}  // namespace penstock::tool
