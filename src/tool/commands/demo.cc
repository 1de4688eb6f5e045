#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "base/iso8601.h"
#include "cli/client_options.h"
#include "cli/exit_code.h"
#include "cli/output_file.h"
#include "cli/terminal.h"
#include "runtime/clocks.h"
#include "tool/commands/commands.h"
#include "tool/demo/downstream.h"
#include "tool/demo/stamped_server.h"
#include "wire/http/errors.h"
#include "wire/json.h"
#include "wire/listen_address.h"

namespace penstock::tool {
namespace {

struct DemoArguments {
  std::string listen = "127.0.0.1:9090";
  std::int64_t max_tps = 50;
  std::int64_t tolerance_ms = 10;
  std::string latency = "PT0S";
  std::int64_t fail_rate = 0;
  std::int64_t lose_rate = 0;
  std::int64_t max_keys = 5'000'000;
  std::int64_t seed = 1;
  std::string book;
  bool json = false;
};

// Answers requests by the bookings, and writes each new one to the --book.
class Downstream {
 public:
  Downstream(const DemoArguments& arguments, const Clock& clock)
      : clock_(clock),
        bookings_({.max_per_second = static_cast<std::uint64_t>(arguments.max_tps),
                   .tolerance = Millis{arguments.tolerance_ms},
                   .fail_percent = static_cast<std::uint64_t>(arguments.fail_rate),
                   .lose_percent = static_cast<std::uint64_t>(arguments.lose_rate),
                   .keys_max = static_cast<std::uint64_t>(arguments.max_keys),
                   .seed = static_cast<std::uint64_t>(arguments.seed)}) {}

  Result<void> open_book(const std::string& path) {
    if (path.empty()) return {};
    cli::OutputFile file = PENSTOCK_TRY(cli::OutputFile::open(path));
    book_ = std::make_unique<cli::OutputFile>(std::move(file));
    return {};
  }

  std::optional<wire::Response> handle(const wire::Request& request, Instant at) {
    if (request.method == wire::Method::get) {
      if (request.path == "/stats") return wire::Response{.body = stats_json(bookings_)};
      return wire::error_response(404, "there is GET /stats, and POST to any path", "-",
                                  clock_.now());
    }
    if (request.method != wire::Method::post) {
      return wire::error_response(405, "there is GET /stats, and POST to any path", "-",
                                  clock_.now());
    }
    const std::string_view key = request.header("Idempotency-Key");
    if (key.empty()) {
      return wire::error_response(400, "Idempotency-Key: the header is missing", "-", clock_.now());
    }
    const Booking booking = bookings_.receive(key, at);
    if (booking.outcome == BookingOutcome::booked) write(booking, key, at);
    return booking_response(booking, key, clock_.now());
  }

  const Bookings& bookings() const noexcept { return bookings_; }
  const Result<void>& written() const noexcept { return written_; }
  void flush_book() {
    if (book_ && written_) written_ = book_->sync();
  }

 private:
  void write(const Booking& booking, std::string_view key, Instant at) {
    if (!book_ || !written_) return;
    wire::JsonWriter out;
    out.begin_object()
        .member("booking", static_cast<std::int64_t>(booking.number))
        .member("idempotencyKey", key)
        .member("at", at)
        .end_object();
    written_ = book_->write(std::move(out).take() + "\n");
  }

  const Clock& clock_;
  Bookings bookings_;
  std::unique_ptr<cli::OutputFile> book_;
  Result<void> written_;  // the first failure stays
};

int run_demo(const DemoArguments& arguments) {
  const auto refuse = [](const std::string& why) { return cli::print_error(why), cli::kExitUsage; };
  const Result<wire::ListenAddress> listen = wire::parse_listen(arguments.listen);
  if (!listen) return refuse("--listen: " + listen.error().what);
  const Result<Millis> latency = parse_duration(arguments.latency);
  if (!latency) return refuse("--latency: " + latency.error().what);
  const runtime::SystemClock clock;
  Downstream downstream(arguments, clock);
  if (const Result<void> opened = downstream.open_book(arguments.book); !opened) {
    return refuse(opened.error().what);
  }
  const cli::Interrupt interrupt;
  const Result<std::unique_ptr<StampedServer>> server = StampedServer::open(
      *listen, *latency, clock,
      [&](const wire::Request& request, Instant at) { return downstream.handle(request, at); });
  if (!server) return cli::print_error(server.error().what), cli::kExitFailed;
  fmt::print("ready http={}\n", wire::format_listen({listen->address, (*server)->port()}));
  std::fflush(stdout);

  cli::StatusLine status;
  (*server)->run([&] { return interrupt.happened() || !downstream.written(); },
                 [&] { status.show(stats_line(downstream.bookings(), status.width())); });
  status.clear();
  downstream.flush_book();
  fmt::print("{}", arguments.json ? stats_json(downstream.bookings()) + "\n"
                                  : stats_text(downstream.bookings()));
  if (!downstream.written())
    return cli::print_error(downstream.written().error().what), cli::kExitFailed;
  return cli::kExitOk;
}

void add_downstream(cli::Command demo) {
  cli::Command command = demo.add(
      "downstream",
      "A stand-in for a payment API with a hard limit: it books every Idempotency-Key once, "
      "counts\n"
      "repeats, and refuses what is above --max-tps in any sliding second with 429.\n"
      "POST to any path books; GET /stats tells requests, booked, duplicates, refused and the "
      "busiest\n"
      "second. Point an item type's sink at it. Ctrl-C or SIGTERM ends it with a summary.",
      {"penstock demo downstream --max-tps 50",
       "penstock demo downstream --max-tps 200 --latency PT0.2S --fail-rate 5 --lose-rate 1",
       "penstock demo downstream --listen 127.0.0.1:0 --book booked.ndjson --json"});
  const auto arguments = std::make_shared<DemoArguments>();
  command.number({.names = "--max-tps",
                  .value_name = "COUNT",
                  .help = "Requests taken in any sliding second; above it, 429"},
                 arguments->max_tps, 1, 1'000'000);
  command.option(
      {.names = "--listen", .value_name = "ADDR:PORT", .help = "Where to listen; port 0 takes one"},
      arguments->listen);
  command.option(
      {.names = "--latency", .value_name = "DURATION", .help = "Every answer takes this long"},
      arguments->latency);
  command.number({.names = "--fail-rate",
                  .value_name = "PERCENT",
                  .help = "Share of requests that get 500 and are not booked"},
                 arguments->fail_rate, 0, 100);
  command.number({.names = "--lose-rate",
                  .value_name = "PERCENT",
                  .help = "Share of requests that are handled, but whose answer is lost"},
                 arguments->lose_rate, 0, 100);
  command.number({.names = "--tolerance-ms",
                  .value_name = "MILLIS",
                  .help = "How far a request may have been held up on its way: a second is judged "
                          "shorter by this"},
                 arguments->tolerance_ms, 0, 500);
  command.number({.names = "--max-keys",
                  .value_name = "COUNT",
                  .help = "Keys remembered, about 150 bytes each; beyond it, 500"},
                 arguments->max_keys, 1, 100'000'000);
  command.number({.names = "--seed", .value_name = "NUMBER", .help = "Of the chance in the rates"},
                 arguments->seed, 0, 1'000'000'000);
  command.option({.names = "--book",
                  .value_name = "FILE",
                  .help = "Write every booking as NDJSON {booking, idempotencyKey, at}"},
                 arguments->book);
  command.flag("--json", "Print the summary as one JSON object", arguments->json);
  command.action([arguments] { return run_demo(*arguments); });
}

}  // namespace

void add_demo(cli::Command root) {
  cli::Command demo = root.add("demo", "Stand-ins to try Penstock with, and to test against.", {});
  add_downstream(demo);
}

}  // namespace penstock::tool
