#include "tool/commands/bench_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/iso8601.h"
#include "base/rng.h"
#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "runtime/clocks.h"

namespace penstock::tool {
namespace {

Result<Millis> parse_bench_duration(const std::string& text) {
  const Result<Millis> duration = parse_duration(text);
  if (!duration) return duration;
  if (*duration <= Millis::zero() || *duration > bench::kDurationMax) {
    return fail(ErrorKind::invalid, "must be above zero and at most PT1H");
  }
  return duration;
}

std::uint64_t run_number() {
  const auto micros = runtime::SystemClock().now().time_since_epoch().count();
  return mix64(static_cast<std::uint64_t>(micros) ^ (static_cast<std::uint64_t>(::getpid()) << 48));
}

}  // namespace

void add_bench_options(cli::Command& command, BenchOptions& options) {
  command.number({.names = "--connections,-c", .value_name = "COUNT", .help = "Connections in all"},
                 options.connections, 1, bench::kConnectionsMax);
  command.number({.names = "--threads,-t",
                  .value_name = "COUNT",
                  .help = "Threads of the load; at most one per connection"},
                 options.threads, 1, bench::kThreadsMax);
  command.option({.names = "--duration,-d",
                  .value_name = "DURATION",
                  .help = "How long to send, at most PT1H",
                  .check = [](const std::string& text) -> Result<void> {
                    PENSTOCK_TRY(parse_bench_duration(text));
                    return {};
                  }},
                 options.duration);
  command.number({.names = "--requests,-n",
                  .value_name = "COUNT",
                  .help = "End after so many, if that is earlier; 0 = no such end"},
                 options.requests, 0, bench::kRequestsMax);
  command.number({.names = "--rate",
                  .value_name = "PER_SECOND",
                  .help = "Open loop: requests are due at this rate whether or not answers come, "
                          "and latency counts from when each was due; 0 = closed loop, as fast as "
                          "the connections go"},
                 options.rate, 0, bench::kRateMax);
  command.option({.names = "--yes-load",
                  .value_name = "HOST",
                  .help = "Needed, with the host of the target, for any that is not loopback: a "
                          "mistyped address must not load somebody's production"},
                 options.yes_load);
}

Result<bench::Plan> bench_plan(const BenchOptions& options, const std::string& host,
                               std::uint16_t port) {
  const Millis duration = PENSTOCK_TRY(parse_bench_duration(options.duration));
  const Millis timeout = PENSTOCK_TRY(parse_duration(options.client.timeout));
  if (options.threads > options.connections) {
    return fail(ErrorKind::invalid, "--threads: must be at most as many as --connections");
  }
  bench::Plan plan;
  plan.target = PENSTOCK_TRY(bench::resolve(host, port));
  PENSTOCK_TRY(bench::may_load(plan.target, options.yes_load));
  PENSTOCK_TRY(bench::probe(plan.target, Seconds{5}));
  plan.connections = static_cast<std::size_t>(options.connections);
  plan.threads = static_cast<std::size_t>(options.threads);
  plan.requests = static_cast<std::uint64_t>(options.requests);
  plan.rate = static_cast<std::uint64_t>(options.rate);
  plan.duration = duration;
  plan.timeout = timeout;
  plan.seed = run_number();
  return plan;
}

Result<bench::Plan> http_bench_plan(const BenchOptions& options, const bench::HttpForm& form,
                                    std::int64_t batch) {
  const http::HttpClientOptions settings = PENSTOCK_TRY(cli::client_settings(options.client));
  if (settings.url.tls) {
    return fail(ErrorKind::invalid,
                "--url: bench speaks plain http only; load the daemon behind its TLS");
  }
  bench::Plan plan = PENSTOCK_TRY(bench_plan(options, settings.url.host, settings.url.port));
  plan.protocol = bench::Protocol::http;
  plan.request =
      bench::http_requests(form, static_cast<std::uint64_t>(batch), settings.url, settings.token);
  return plan;
}

int bench_failed(const Error& error) {
  cli::print_error(error.what);
  return error.kind == ErrorKind::unavailable ? cli::kExitUnreachable : cli::kExitUsage;
}

bench::LoadOutcome run_bench(const bench::Plan& plan, const cli::Interrupt& interrupt) {
  cli::StatusLine line;
  bench::LoadOutcome outcome =
      bench::run_load(plan, interrupt.flag(), [&](const bench::LoadProgress& progress) {
        if (line.due()) line.show(bench::load_line(plan, progress, line.width()));
      });
  line.clear();
  return outcome;
}

int print_bench(const bench::Report& report, bool json) {
  fmt::print("{}", json ? bench::report_json(report) : bench::report_text(report));
  if (report.interrupted) return cli::kExitInterrupted;
  return report.all_well() ? cli::kExitOk : cli::kExitFailed;
}

std::string bench_run_prefix() {
  return fmt::format("bench-{:08x}-", static_cast<std::uint32_t>(run_number()));
}

}  // namespace penstock::tool
