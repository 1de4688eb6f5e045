#include <fmt/format.h>

#include <memory>
#include <thread>

#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/output_file.h"
#include "tool/commands/commands.h"
#include "tool/commands/import_command.h"
#include "tool/import/import_state.h"
#include "wire/json.h"

namespace penstock::tool {
namespace {

constexpr std::uint64_t kRejectsShownMax = 10;  // without --rejects; the summary counts them all
constexpr std::string_view kStateSuffix = ".import-state";

struct PaymentsImportArguments {
  ImportArguments import;
  std::string rejects;
  std::string state;
  bool no_resume = false;
};

// Every line that was not taken: on screen, the first few, or in --rejects.
class Rejects {
 public:
  // A file that an earlier run wrote is gone on with after its first `bytes`.
  Result<void> open(const std::string& path, bool resume, std::uint64_t bytes) {
    if (path.empty()) return {};
    Result<cli::OutputFile> file =
        resume && path != "-" ? cli::OutputFile::resume(path, bytes) : cli::OutputFile::open(path);
    if (!file) return std::unexpected(std::move(file.error()));
    file_ = std::make_unique<cli::OutputFile>(*std::move(file));
    bytes_ = resume ? bytes : 0;
    return {};
  }

  Result<void> line(const Record& record, const LineAnswer& answer, const ImportDisplay& display) {
    if (answer.taken()) return {};
    if (file_) return write(record, answer);
    if (shown_ < kRejectsShownMax) {
      display.clear();
      const std::string id = answer.id.empty() ? "" : fmt::format(" (payment {})", answer.id);
      cli::print_error(fmt::format("line {}{}: {}", record.line, id, answer.reason));
    } else if (shown_ == kRejectsShownMax) {
      display.clear();
      cli::print_error("more lines are rejected; --rejects FILE keeps them all");
    }
    ++shown_;
    return {};
  }

  // Out of this process; gives the size of the file.
  Result<std::uint64_t> flush() {
    if (!file_) return std::uint64_t{0};
    if (Result<void> flushed = file_->flush(); !flushed) return std::unexpected(flushed.error());
    return bytes_;
  }

  Result<void> close() { return file_ ? file_->close() : Result<void>(); }

 private:
  Result<void> write(const Record& record, const LineAnswer& answer) {
    wire::JsonWriter out;
    out.begin_object().member("line", static_cast<std::int64_t>(record.line)).key("paymentId");
    if (answer.id.empty()) {
      out.null();
    } else {
      out.value(std::string_view(answer.id));
    }
    out.member("reason", answer.reason).member("input", record.input).end_object();
    const std::string text = std::move(out).take() + "\n";
    bytes_ += text.size();
    return file_->write(text);
  }

  std::unique_ptr<cli::OutputFile> file_;
  std::uint64_t bytes_ = 0;
  std::uint64_t shown_ = 0;
};

// Where this import notes how far it came; none for a pipe, unless --state says so.
Result<std::unique_ptr<StateFile>> state_file(const PaymentsImportArguments& arguments) {
  if (arguments.no_resume) return nullptr;
  const std::string& file = arguments.import.file;
  Result<ImportSubject> subject = subject_of(file, arguments.import.client.url);
  if (!subject) {
    if (arguments.state.empty()) return nullptr;
    return fail(ErrorKind::invalid,
                "--state: " + subject.error().what + ", and only one of those can be gone on with");
  }
  return std::make_unique<StateFile>(
      arguments.state.empty() ? file + std::string(kStateSuffix) : arguments.state,
      *std::move(subject));
}

void print_summary(const PaymentsImportArguments& arguments, const ImportOutcome& outcome,
                   const ImportTally& before, const StateFile* state, double seconds) {
  // Rejected lines on standard output must stay a clean stream.
  std::FILE* to = arguments.rejects == "-" ? stderr : stdout;
  const PaymentsSummary summary{.tally = outcome.tally, .before = before, .seconds = seconds};
  fmt::print(to, "{}",
             arguments.import.client.json ? payments_json(summary) : payments_text(summary));
  if (!outcome.stop.why.empty()) cli::print_error(outcome.stop.why);
  if (outcome.stop.end == ImportEnd::complete) return;
  if (state != nullptr && outcome.tally.through_line > 0) {
    cli::print_error(
        fmt::format("the import is not complete; run it again: it goes on after line {}",
                    outcome.tally.through_line));
  } else {
    cli::print_error(
        "the import is not complete; run it again: payments that are known cost nothing");
  }
}

int run_payments_import(const PaymentsImportArguments& arguments) {
  const auto refuse = [](const std::string& why) { return cli::print_error(why), cli::kExitUsage; };
  const Result<ImportFormat> format = format_of(arguments.import);
  if (!format) return refuse(format.error().what);
  Result<ImportClients> clients = import_clients(arguments.import);
  if (!clients) return refuse(clients.error().what);
  Result<ImportOptions> options = import_options(arguments.import);
  if (!options) return refuse(options.error().what);
  options->read_line = read_payment_line;

  const cli::Interrupt interrupt;
  const std::string& file = arguments.import.file;
  Result<std::unique_ptr<ByteSource>> source = open_source(file, interrupt.flag());
  if (!source) return refuse(source.error().what);
  TextInput input(*std::move(source));
  const Result<std::unique_ptr<RecordReader>> all = read_records(*format, input, payment_fields());
  if (!all) return refuse(fmt::format("{}: {}", file, all.error().what));

  const Result<std::unique_ptr<StateFile>> state = state_file(arguments);
  if (!state) return refuse(state.error().what);
  std::optional<ImportState> begun;
  if (*state) {
    Result<std::optional<ImportState>> loaded = (*state)->load();
    if (!loaded) return refuse(loaded.error().what);
    begun = *std::move(loaded);
  }
  if (begun) options->before = begun->tally;
  Rejects rejects;
  if (const Result<void> opened = rejects.open(arguments.rejects, begun && begun->rejects_bytes > 0,
                                               begun ? begun->rejects_bytes : 0);
      !opened) {
    return refuse(opened.error().what);
  }

  RecordsAfter records(**all, options->before.through_line);
  ImportDisplay display(size_of_file(file), options->before.read);
  std::optional<std::uint64_t> bytes_before;  // known once the first new line was read
  const ImportHooks hooks{
      .make_sender = senders(*clients, "/api/v1/payments/batch"),
      .stopped = [&] { return interrupt.happened(); },
      .sleep = [](Millis delay) { std::this_thread::sleep_for(delay); },
      .bytes_read = [&] { return input.bytes_read(); },
      .on_line = [&](const Record& record,
                     const LineAnswer& answer) { return rejects.line(record, answer, display); },
      .on_progress = [&](const ImportTally& tally, std::uint64_t bytes,
                         const std::string& waiting) -> Result<void> {
        if (begun && !bytes_before) display.start_at(*(bytes_before = bytes));
        display.show(tally, bytes, waiting);
        return *state ? (*state)->note(tally, [&] { return rejects.flush(); }) : Result<void>();
      }};
  ImportOutcome outcome = Importer(*options, hooks).run(records);
  display.clear();
  Result<void> closed = rejects.close();
  if (closed && *state) {
    if (outcome.stop.end == ImportEnd::complete) {
      (*state)->remove();
    } else {
      closed = (*state)->save();
    }
  }
  if (!closed) outcome.stop = {ImportEnd::output_broken, closed.error().what};
  print_summary(arguments, outcome, options->before, state->get(), display.seconds());
  return exit_code_of(outcome);
}

}  // namespace

void add_payments_import(cli::Command payments) {
  cli::Command command = payments.add(
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
  const auto arguments = std::make_shared<PaymentsImportArguments>();
  add_import_options(command, arguments->import);
  command.option({.names = "--rejects",
                  .value_name = "FILE",
                  .help = "Write lines that were not taken as NDJSON {line, paymentId, reason, "
                          "input}; without it, the first ten are shown"},
                 arguments->rejects);
  command.option({.names = "--state",
                  .value_name = "FILE",
                  .help = "Where to keep how far it came; without it, FILE.import-state"},
                 arguments->state);
  command.flag("--no-resume", "Start at the first line, and keep no state", arguments->no_resume);
  cli::add_client_options(command, arguments->import.client,
                          "Print the summary as one JSON object");
  command.calls("POST", "/api/v1/payments/batch");
  command.action([arguments] { return run_payments_import(*arguments); });
}

}  // namespace penstock::tool
