#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <memory>
#include <thread>

#include "app/cli/exit_code.h"
#include "app/cli/interrupt.h"
#include "app/cli/output_file.h"
#include "app/commands/client_options.h"
#include "app/commands/commands.h"
#include "app/import/importer.h"
#include "base/iso8601.h"
#include "runtime/stopwatch.h"
#include "wire/batch.h"
#include "wire/json.h"

namespace penstock::app {
namespace {

constexpr double kProgressEverySeconds = 0.2;
constexpr std::uint64_t kFailuresShownMax = 10;  // without --errors; the summary counts them all

struct Arguments {
  ClientOptions client;
  std::string file;
  std::string format;
  std::int64_t batch = 1'000;
  std::int64_t concurrency = 4;
  std::string retry_for = "PT2M";
  std::string errors;
  std::string output;
};

Result<ImportFormat> format_of(const Arguments& arguments) {
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

// Shows the progress line on a terminal, rewriting it in place; silent elsewhere.
class ProgressDisplay {
 public:
  explicit ProgressDisplay(std::optional<std::uint64_t> bytes_total)
      : bytes_total_(bytes_total), on_terminal_(::isatty(STDERR_FILENO) == 1) {}

  void show(const ImportTally& tally, std::uint64_t bytes, const std::string& waiting_for) {
    if (!on_terminal_) return;
    const double now = watch_.seconds();
    if (now - shown_at_ < kProgressEverySeconds) return;
    shown_at_ = now;
    const ProgressView view{.lines = tally.assigned + tally.failed,
                            .failed = tally.failed,
                            .bytes = bytes,
                            .bytes_total = bytes_total_,
                            .seconds = now,
                            .waiting_for = waiting_for};
    fmt::print(stderr, "\r{}\x1b[K", progress_line(view, columns() - 1));
  }

  void clear() const {
    if (on_terminal_) fmt::print(stderr, "\r\x1b[K");
  }

  double seconds() const { return watch_.seconds(); }

 private:
  static std::size_t columns() {
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 80;
    return size.ws_col;
  }

  const std::optional<std::uint64_t> bytes_total_;
  const bool on_terminal_;
  const runtime::Stopwatch watch_;
  double shown_at_ = -1;
};

// Writes each line's fate to --output or --errors, as far as they were asked for.
class LineReports {
 public:
  Result<void> open(const Arguments& arguments) {
    for (const auto& [path, into] :
         {std::pair{&arguments.output, &output_}, std::pair{&arguments.errors, &errors_}}) {
      if (path->empty()) continue;
      Result<OutputFile> file = OutputFile::open(*path);
      if (!file) return std::unexpected(std::move(file.error()));
      *into = std::make_unique<OutputFile>(*std::move(file));
    }
    return {};
  }

  Result<void> line(const Record& record, const LineAnswer& answer,
                    const ProgressDisplay& display) {
    if (answer.assigned) return output_ ? output_->write(answer.json + "\n") : Result<void>();
    if (!errors_) {
      if (shown_ == kFailuresShownMax) {
        print_error("more lines fail; --errors FILE keeps them all");
      } else if (shown_ < kFailuresShownMax) {
        display.clear();
        print_error(fmt::format("line {}: {}", record.line, answer.reason));
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
    for (OutputFile* file : {output_.get(), errors_.get()}) {
      if (file == nullptr) continue;
      if (Result<void> closed = file->close(); !closed) return closed;
    }
    return {};
  }

 private:
  std::unique_ptr<OutputFile> output_;
  std::unique_ptr<OutputFile> errors_;
  std::uint64_t shown_ = 0;
};

int exit_code_of(const ImportOutcome& outcome) {
  switch (outcome.stop.end) {
    case ImportEnd::complete:
      return outcome.tally.failed == 0 ? kExitOk : kExitFailed;
    case ImportEnd::interrupted:
      return kExitInterrupted;
    case ImportEnd::unreachable:
      return kExitUnreachable;
    case ImportEnd::refused:
    case ImportEnd::input_broken:
    case ImportEnd::output_broken:
      break;
  }
  return kExitFailed;
}

void print_summary(const Arguments& arguments, const ImportOutcome& outcome, double seconds) {
  // Results on standard output must stay a clean stream.
  std::FILE* to = arguments.output == "-" || arguments.errors == "-" ? stderr : stdout;
  fmt::print(to, "{}",
             arguments.client.json ? summary_json(outcome.tally, seconds)
                                   : summary_text(outcome.tally, seconds));
  if (!outcome.stop.why.empty()) print_error(outcome.stop.why);
  if (outcome.stop.end != ImportEnd::complete) {
    print_error(
        "the import is not complete; run it again: events that have a slot keep it and cost "
        "nothing");
  }
}

int run(const Arguments& arguments) {
  const auto refuse = [](const std::string& why) { return print_error(why), kExitUsage; };
  const Result<ImportFormat> format = format_of(arguments);
  if (!format) return refuse(format.error().what);
  const Result<HttpClientOptions> settings = client_settings(arguments.client);
  if (!settings) return refuse(settings.error().what);
  std::vector<std::shared_ptr<HttpClient>> clients;
  for (std::int64_t i = 0; i < arguments.concurrency; ++i) {
    Result<std::unique_ptr<HttpClient>> client = HttpClient::make(*settings);
    if (!client) return refuse(client.error().what);
    clients.push_back(*std::move(client));
  }
  const Result<Millis> retry_for = parse_duration(arguments.retry_for);
  if (!retry_for) return refuse("--retry-for: " + retry_for.error().what);

  const Interrupt interrupt;
  Result<std::unique_ptr<ByteSource>> source = open_source(arguments.file, interrupt.flag());
  if (!source) return refuse(source.error().what);
  TextInput input(*std::move(source));
  const Result<std::unique_ptr<RecordReader>> records = read_records(*format, input);
  if (!records) return refuse(fmt::format("{}: {}", arguments.file, records.error().what));
  LineReports reports;
  if (const Result<void> opened = reports.open(arguments); !opened) {
    return refuse(opened.error().what);
  }

  ProgressDisplay display(size_of_file(arguments.file));
  const ImportHooks hooks{
      .make_sender =
          [&clients] {
            const std::shared_ptr<HttpClient> client = clients.back();
            clients.pop_back();
            return [client](const std::string& body) {
              return client->call({.method = "POST",
                                   .target = "/api/v1/slots/batch",
                                   .body = body,
                                   .content_type = "application/x-ndjson"});
            };
          },
      .stopped = [&] { return interrupt.happened(); },
      .sleep = [](Millis delay) { std::this_thread::sleep_for(delay); },
      .bytes_read = [&] { return input.bytes_read(); },
      .on_line = [&](const Record& record,
                     const LineAnswer& answer) { return reports.line(record, answer, display); },
      .on_progress = [&](const ImportTally& tally, std::uint64_t bytes,
                         const std::string& waiting) { display.show(tally, bytes, waiting); }};
  const ImportOptions options{
      .batch_lines = static_cast<std::size_t>(arguments.batch),
      .concurrency = static_cast<std::size_t>(arguments.concurrency),
      .patience = {.before_first_answer = std::min<Millis>(Seconds{5}, *retry_for),
                   .after = *retry_for}};
  ImportOutcome outcome = Importer(options, hooks).run(**records);
  display.clear();
  if (const Result<void> closed = reports.close(); !closed) {
    outcome.stop = {ImportEnd::output_broken, closed.error().what};
  }
  print_summary(arguments, outcome, display.seconds());
  return exit_code_of(outcome);
}

}  // namespace

void add_slots_import(Command slots) {
  Command command =
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
  const auto arguments = std::make_shared<Arguments>();
  command.option({.names = "FILE", .help = "The file; - is standard input", .required = true},
                 arguments->file);
  command.option({.names = "--format",
                  .value_name = "csv|ndjson",
                  .help = "Form of the file; without it, by the name (.csv, .ndjson, .jsonl)",
                  .check = [](const std::string& text) -> Result<void> {
                    if (text == "csv" || text == "ndjson") return {};
                    return fail(ErrorKind::invalid, "must be csv or ndjson");
                  }},
                 arguments->format);
  command.number({.names = "--batch", .value_name = "LINES", .help = "Lines in one request"},
                 arguments->batch, 1, static_cast<std::int64_t>(wire::kBatchEntriesMax));
  command.number(
      {.names = "--concurrency", .value_name = "COUNT", .help = "Requests in flight at once"},
      arguments->concurrency, 1, 64);
  command.option({.names = "--retry-for",
                  .value_name = "DURATION",
                  .help = "Wait this long for a daemon that is down or refuses, then give up"},
                 arguments->retry_for);
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
  add_client_options(command, arguments->client, "Print the summary as one JSON object");
  command.action([arguments] { return run(*arguments); });
}

}  // namespace penstock::app
