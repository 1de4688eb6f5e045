// `penstock slots import` and `penstock payments import`: a file through a batch route.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <thread>

#include "base/iso8601.h"
#include "cli/client_options.h"
#include "cli/exit_code.h"
#include "cli/output_file.h"
#include "cli/terminal.h"
#include "tool/commands/commands.h"
#include "tool/import/import_state.h"
#include "tool/import/importer.h"
#include "wire/batch.h"
#include "wire/http/routes.h"
#include "wire/json.h"

namespace penstock::tool {
namespace {

constexpr std::uint64_t kFailuresShownMax = 10;  // without a report; the summary counts them all
constexpr std::string_view kStateSuffix = ".import-state";

struct ImportArguments {
  cli::ClientOptions client;
  std::string file;
  std::string format;
  std::int64_t batch = 1'000;
  std::int64_t concurrency = 4;
  std::string retry_for = "PT2M";
  std::string report;  // of lines that were not taken: --errors, --rejects
  std::string output;  // of the answers to those that were
  std::string state;
  bool no_resume = false;
};

// What tells the two imports apart.
struct ImportKind {
  const wire::RouteInfo& route;
  const RecordFields& (*fields)();
  ReadLine read_line;
  bool keeps_state = false;        // goes on where an earlier run stopped
  std::string_view id = {};        // the member that names a line in the report; empty = none
  std::string_view id_shown = {};  // the same on the screen
  std::string_view more;           // said once the screen has shown enough
  std::string_view repeat;         // why it costs nothing to start anew
  std::string (*text)(const PaymentsSummary& summary);
  std::string (*json)(const PaymentsSummary& summary);
};

constexpr ImportKind kSlotsImport{
    .route = wire::route("assignSlots"),
    .fields = slot_fields,
    .read_line = read_slot_line,
    .more = "more lines fail; --errors FILE keeps them all",
    .repeat = "events that have a slot keep it and cost nothing",
    .text = [](const PaymentsSummary& of) { return summary_text(of.tally, of.seconds); },
    .json = [](const PaymentsSummary& of) { return summary_json(of.tally, of.seconds); }};

constexpr ImportKind kPaymentsImport{
    .route = wire::route("takePayments"),
    .fields = payment_fields,
    .read_line = read_payment_line,
    .keeps_state = true,
    .id = "paymentId",
    .id_shown = "payment",
    .more = "more lines are rejected; --rejects FILE keeps them all",
    .repeat = "payments that are known cost nothing",
    .text = payments_text,
    .json = payments_json};

// --- What was typed ---

Result<ImportFormat> format_of(const ImportArguments& arguments) {
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

Result<ImportOptions> import_options(const ImportKind& kind, const ImportArguments& arguments) {
  const Result<Millis> retry_for = parse_duration(arguments.retry_for);
  if (!retry_for) return fail(ErrorKind::invalid, "--retry-for: " + retry_for.error().what);
  return ImportOptions{.batch_lines = static_cast<std::size_t>(arguments.batch),
                       .concurrency = static_cast<std::size_t>(arguments.concurrency),
                       .patience = {.before_first_answer = std::min<Millis>(Seconds{5}, *retry_for),
                                    .after = *retry_for},
                       .read_line = kind.read_line};
}

// Where this import notes how far it came; none for a pipe, unless --state says so.
Result<std::unique_ptr<StateFile>> state_file(const ImportKind& kind,
                                              const ImportArguments& arguments) {
  if (!kind.keeps_state || arguments.no_resume) return nullptr;
  Result<ImportSubject> subject = subject_of(arguments.file, arguments.client.url);
  if (!subject) {
    if (arguments.state.empty()) return nullptr;
    return fail(ErrorKind::invalid,
                "--state: " + subject.error().what + ", and only one of those can be gone on with");
  }
  return std::make_unique<StateFile>(
      arguments.state.empty() ? arguments.file + std::string(kStateSuffix) : arguments.state,
      *std::move(subject));
}

// --- The daemon ---

using ImportClients = std::vector<std::shared_ptr<http::HttpClient>>;

// One for each batch in flight.
Result<ImportClients> import_clients(const ImportArguments& arguments) {
  const http::HttpClientOptions settings = PENSTOCK_TRY(cli::client_settings(arguments.client));
  ImportClients clients;
  for (std::int64_t i = 0; i < arguments.concurrency; ++i) {
    std::unique_ptr<http::HttpClient> client = PENSTOCK_TRY(http::HttpClient::make(settings));
    clients.push_back(std::move(client));
  }
  return clients;
}

// Gives each caller a client of its own; `clients` must outlive it.
std::function<SendBatch()> senders(ImportClients& clients, const ImportKind& kind) {
  return [&clients, &kind] {
    const std::shared_ptr<http::HttpClient> client = clients.back();
    clients.pop_back();
    return [client, &kind](const std::string& body) {
      return client->call({.method = std::string(to_string(kind.route.method)),
                           .target = std::string(kind.route.pattern),
                           .body = body,
                           .content_type = "application/x-ndjson"});
    };
  };
}

// --- What it shows ---

// The progress line of an import, on a terminal.
class ImportDisplay {
 public:
  ImportDisplay(std::optional<std::uint64_t> bytes_total, std::uint64_t lines_before)
      : bytes_total_(bytes_total), lines_before_(lines_before) {}

  void show(const ImportTally& tally, std::uint64_t bytes, const std::string& waiting_for) {
    if (!line_.due()) return;
    const ProgressView view{.lines = tally.taken() + tally.not_taken() - lines_before_,
                            .failed = tally.not_taken(),
                            .bytes = bytes,
                            .bytes_total = bytes_total_,
                            .seconds = line_.seconds(),
                            .bytes_before = bytes_before_,
                            .waiting_for = waiting_for};
    line_.show(progress_line(view, line_.width()));
  }
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

// The fate of each line: the answer to --output; a failure to the report, else the first few to the
// screen.
class LineReports {
 public:
  explicit LineReports(const ImportKind& kind) : kind_(kind) {}

  // A report that an earlier run wrote is gone on with after its first `bytes_before`.
  Result<void> open(const ImportArguments& arguments, std::uint64_t bytes_before) {
    if (!arguments.output.empty()) {
      cli::OutputFile output = PENSTOCK_TRY(cli::OutputFile::open(arguments.output));
      output_.emplace(std::move(output));
    }
    if (arguments.report.empty()) return {};
    const bool resume = bytes_before > 0 && arguments.report != "-";
    cli::OutputFile report =
        PENSTOCK_TRY(resume ? cli::OutputFile::resume(arguments.report, bytes_before)
                            : cli::OutputFile::open(arguments.report));
    report_.emplace(std::move(report));
    report_bytes_ = bytes_before;
    return {};
  }

  Result<void> line(const Record& record, const LineAnswer& answer, const ImportDisplay& display) {
    if (answer.taken()) return output_ ? output_->write(answer.json + "\n") : Result<void>();
    if (report_) return write(record, answer);
    if (shown_ > kFailuresShownMax) return {};
    display.clear();
    if (shown_ == kFailuresShownMax) {
      cli::print_error(std::string(kind_.more));
    } else {
      const std::string id =
          answer.id.empty() ? "" : fmt::format(" ({} {})", kind_.id_shown, answer.id);
      cli::print_error(fmt::format("line {}{}: {}", record.line, id, answer.reason));
    }
    ++shown_;
    return {};
  }

  // The report out of this process; gives its size.
  Result<std::uint64_t> flush() {
    if (!report_) return std::uint64_t{0};
    PENSTOCK_TRY(report_->flush());
    return report_bytes_;
  }

  Result<void> close() {
    if (output_) PENSTOCK_TRY(output_->close());
    if (report_) PENSTOCK_TRY(report_->close());
    return {};
  }

 private:
  Result<void> write(const Record& record, const LineAnswer& answer) {
    wire::JsonWriter out;
    out.begin_object().member("line", static_cast<std::int64_t>(record.line));
    if (!kind_.id.empty()) {
      out.key(kind_.id);
      answer.id.empty() ? out.null() : out.value(std::string_view(answer.id));
    }
    out.member("reason", answer.reason).member("input", record.input).end_object();
    const std::string text = std::move(out).take() + "\n";
    report_bytes_ += text.size();
    return report_->write(text);
  }

  const ImportKind& kind_;
  std::optional<cli::OutputFile> output_;
  std::optional<cli::OutputFile> report_;
  std::uint64_t report_bytes_ = 0;
  std::uint64_t shown_ = 0;
};

void print_summary(const ImportKind& kind, const ImportArguments& arguments,
                   const ImportOutcome& outcome, const PaymentsSummary& summary, bool has_state) {
  // Lines on standard output must stay a clean stream.
  std::FILE* to = arguments.output == "-" || arguments.report == "-" ? stderr : stdout;
  fmt::print(to, "{}", arguments.client.json ? kind.json(summary) : kind.text(summary));
  if (!outcome.stop.why.empty()) cli::print_error(outcome.stop.why);
  if (outcome.stop.end == ImportEnd::complete) return;
  cli::print_error(has_state && outcome.tally.through_line > 0
                       ? fmt::format("the import is not complete; run it again: it goes on after "
                                     "line {}",
                                     outcome.tally.through_line)
                       : fmt::format("the import is not complete; run it again: {}", kind.repeat));
}

int exit_code_of(const ImportOutcome& outcome) {
  switch (outcome.stop.end) {
    case ImportEnd::complete:
      return outcome.tally.not_taken() == 0 ? cli::kExitOk : cli::kExitFailed;
    case ImportEnd::interrupted:
      return cli::kExitInterrupted;
    case ImportEnd::unreachable:
      return cli::kExitUnreachable;
    case ImportEnd::refused:
    case ImportEnd::input_broken:
    case ImportEnd::output_broken:
      break;
  }
  return cli::kExitFailed;
}

// --- The import ---

// An error is one of the command line; nothing was sent then.
Result<int> run_import(const ImportKind& kind, const ImportArguments& arguments) {
  const ImportFormat format = PENSTOCK_TRY(format_of(arguments));
  ImportClients clients = PENSTOCK_TRY(import_clients(arguments));
  ImportOptions options = PENSTOCK_TRY(import_options(kind, arguments));

  const cli::Interrupt interrupt;
  const std::string& file = arguments.file;
  std::unique_ptr<ByteSource> source = PENSTOCK_TRY(open_source(file, interrupt.flag()));
  TextInput input(std::move(source));
  const Result<std::unique_ptr<RecordReader>> all = read_records(format, input, kind.fields());
  if (!all) return fail(ErrorKind::invalid, fmt::format("{}: {}", file, all.error().what));

  const std::unique_ptr<StateFile> state = PENSTOCK_TRY(state_file(kind, arguments));
  std::optional<ImportState> begun;
  if (state) begun = PENSTOCK_TRY(state->load());
  if (begun) options.before = begun->tally;
  LineReports reports(kind);
  PENSTOCK_TRY(reports.open(arguments, begun ? begun->rejects_bytes : 0));

  RecordsAfter records(**all, options.before.through_line);
  ImportDisplay display(size_of_file(file), options.before.read);
  std::optional<std::uint64_t> bytes_before;  // known once the first new line was read
  const ImportHooks hooks{
      .make_sender = senders(clients, kind),
      .stopped = [&] { return interrupt.happened(); },
      .sleep = [](Millis delay) { std::this_thread::sleep_for(delay); },
      .bytes_read = [&] { return input.bytes_read(); },
      .on_line = [&](const Record& record,
                     const LineAnswer& answer) { return reports.line(record, answer, display); },
      .on_progress = [&](const ImportTally& tally, std::uint64_t bytes,
                         const std::string& waiting) -> Result<void> {
        if (begun && !bytes_before) display.start_at(*(bytes_before = bytes));
        display.show(tally, bytes, waiting);
        return state ? state->note(tally, [&] { return reports.flush(); }) : Result<void>();
      }};
  ImportOutcome outcome = Importer(options, hooks).run(records);
  display.clear();
  Result<void> closed = reports.close();
  if (closed && state) {
    if (outcome.stop.end == ImportEnd::complete) {
      state->remove();
    } else {
      closed = state->save();
    }
  }
  if (!closed) outcome.stop = {ImportEnd::output_broken, closed.error().what};
  print_summary(kind, arguments, outcome,
                {.tally = outcome.tally, .before = options.before, .seconds = display.seconds()},
                state != nullptr);
  return exit_code_of(outcome);
}

// FILE and the options that both have, then those that `add_own` adds.
void add_import(cli::Command command, const ImportKind& kind,
                const std::function<void(cli::Command&, ImportArguments&)>& add_own) {
  const auto arguments = std::make_shared<ImportArguments>();
  command.option({.names = "FILE", .help = "The file; - is standard input", .required = true},
                 arguments->file);
  command.option({.names = "--format",
                  .value_name = "csv|ndjson",
                  .help = "Form of the file; without it, by the name (.csv, .ndjson, .jsonl)",
                  .check = cli::one_of("csv|ndjson")},
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
  add_own(command, *arguments);
  cli::add_client_options(command, arguments->client, "Print the summary as one JSON object");
  command.calls(std::string(to_string(kind.route.method)), std::string(kind.route.pattern));
  command.action([arguments, &kind] {
    const Result<int> code = run_import(kind, *arguments);
    if (!code) cli::print_error(code.error().what);
    return code.value_or(cli::kExitUsage);
  });
}

}  // namespace

void add_slots_import(cli::Command slots) {
  const cli::Command command =
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
  add_import(command, kSlotsImport, [](cli::Command& own, ImportArguments& arguments) {
    own.option({.names = "--errors",
                .value_name = "FILE",
                .help = "Write failed lines as NDJSON {line, reason, input}; without it, the first "
                        "ten are shown"},
               arguments.report);
    own.option(
        {.names = "--output",
         .value_name = "FILE",
         .help = "Write the slots as NDJSON, in the order of the file; - is standard output"},
        arguments.output);
  });
}

void add_payments_import(cli::Command payments) {
  const cli::Command command = payments.add(
      "import",
      "Hand over every payment of a CSV or NDJSON file, through the batch route.\n"
      "Fields: paymentId, amount, currency, debtorIban, creditorIban, executionTime, and "
      "optionally\n"
      "reference and metadata; the first line of a CSV file names them. Safe to repeat: a payment "
      "that is\n"
      "known stays as it is. How far it came is kept in FILE.import-state: after an interruption "
      "the same\n"
      "command goes on there. Exit code 1 when any line was rejected or failed.",
      {"penstock payments import payments.csv",
       "penstock payments import payments.ndjson --rejects rejected.ndjson --concurrency 8",
       "zcat payments.csv.gz | penstock payments import - --format csv"});
  add_import(command, kPaymentsImport, [](cli::Command& own, ImportArguments& arguments) {
    own.option({.names = "--rejects",
                .value_name = "FILE",
                .help = "Write lines that were not taken as NDJSON {line, paymentId, reason, "
                        "input}; without it, the first ten are shown"},
               arguments.report);
    own.option({.names = "--state",
                .value_name = "FILE",
                .help = "Where to keep how far it came; without it, FILE.import-state"},
               arguments.state);
    own.flag("--no-resume", "Start at the first line, and keep no state", arguments.no_resume);
  });
}

}  // namespace penstock::tool
