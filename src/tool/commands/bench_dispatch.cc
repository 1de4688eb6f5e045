#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "base/iso8601.h"
#include "cli/exit_code.h"
#include "cli/input_text.h"
#include "cli/terminal.h"
#include "engine/http/answer.h"
#include "runtime/clocks.h"
#include "tool/commands/bench_options.h"
#include "tool/commands/commands.h"
#include "tool/import/progress.h"
#include "wire/batch.h"
#include "wire/json.h"

namespace penstock::tool {
namespace {

constexpr std::chrono::milliseconds kLookEvery{100};  // at the queue while it drains

struct BenchDispatchArguments {
  BenchOptions load;
  std::string type;
  std::string at = "now";
  std::string context = "{}";
  std::int64_t batch = 1'000;
  bool drain = false;
  std::string drain_for = "PT1M";
};

struct QueueCounts {
  std::uint64_t waiting = 0;  // READY and CLAIMED
  std::uint64_t settled = 0;  // DISPATCHED and DEAD
};

Result<QueueCounts> look(http::HttpClient& client, const std::string& type) {
  const http::HttpAnswer answer = PENSTOCK_TRY(
      client.call({.target = "/api/v1/dispatch/" + http::percent_encoded(type) + "/summary"}));
  if (answer.status != 200) return fail(ErrorKind::conflict, http::error_sentence(answer));
  const auto no_counts = [] {
    return fail(ErrorKind::conflict, "the summary of the type is not one of a Penstock daemon");
  };
  const Result<wire::JsonDocument> document = wire::parse_json(answer.body);
  if (!document || document->root().type() != wire::JsonType::object) return no_counts();
  const wire::JsonValue counts = document->root().find("counts");
  if (!counts || counts.type() != wire::JsonType::object) return no_counts();
  const auto count = [&](std::string_view name) {
    const wire::JsonValue value = counts.find(name);
    return static_cast<std::uint64_t>(value ? value.integer().value_or(0) : 0);
  };
  return QueueCounts{.waiting = count("READY") + count("CLAIMED"),
                     .settled = count("DISPATCHED") + count("DEAD")};
}

// Watches until nothing waits any more, for `patience` at most.
Result<bench::Drain> watch_drain(http::HttpClient& client, const BenchDispatchArguments& arguments,
                                 const QueueCounts& before, const runtime::Stopwatch& watch,
                                 double patience, const cli::Interrupt& interrupt) {
  cli::StatusLine line;
  const double began = watch.seconds();
  bench::Drain drain;
  for (;;) {
    const QueueCounts now = PENSTOCK_TRY(look(client, arguments.type));
    drain.seconds = watch.seconds();
    drain.items = now.settled - std::min(now.settled, before.settled);
    drain.complete = now.waiting == 0;
    if (drain.complete || interrupt.happened() || drain.seconds - began >= patience) break;
    line.show(fmt::format("draining: {} done, {} waiting", with_thousands(drain.items),
                          with_thousands(now.waiting)));
    std::this_thread::sleep_for(kLookEvery);
  }
  line.clear();
  return drain;
}

int failed(const Error& error) {
  cli::print_error(error.what);
  return error.kind == ErrorKind::conflict ? cli::kExitFailed : cli::kExitUnreachable;
}

int run_bench_dispatch(const BenchDispatchArguments& arguments) {
  const auto refuse = [](const std::string& why) {
    return bench_failed({.kind = ErrorKind::invalid, .what = why});
  };
  const Result<Instant> at = cli::parse_time_argument(arguments.at, runtime::SystemClock().now());
  if (!at) return refuse("--at: " + at.error().what);
  const Result<Millis> patience = parse_duration(arguments.drain_for);
  if (!patience) return refuse("--drain-for: " + patience.error().what);
  if (!wire::parse_json(arguments.context)) return refuse("--context: must be JSON");

  const std::string run = bench_run_prefix();
  const std::string target = "/api/v1/dispatch/" + http::percent_encoded(arguments.type);
  const bench::HttpForm form{
      .target = target,
      .batch_target = target + "/batch",
      .good_entry = "\"scheduledTime\":",
      .entry = {.before = "{\"itemId\":\"" + run,
                .field = bench::RequestTemplate::Field::id,
                .has_field = true,
                .after = fmt::format("\",\"scheduledTime\":\"{}\",\"context\":{}}}",
                                     format_instant(*at), arguments.context)}};
  const Result<bench::Plan> plan = http_bench_plan(arguments.load, form, arguments.batch);
  if (!plan) return bench_failed(plan.error());
  Result<http::HttpClientOptions> settings = cli::client_settings(arguments.load.client);
  if (!settings) return refuse(settings.error().what);
  const Result<std::unique_ptr<http::HttpClient>> client =
      http::HttpClient::make(*std::move(settings));
  if (!client) return refuse(client.error().what);
  const Result<QueueCounts> before =
      look(**client, arguments.type);  // an unknown type is said here
  if (!before) return failed(before.error());

  const cli::Interrupt interrupt;
  const runtime::Stopwatch watch;
  const bench::LoadOutcome outcome = run_bench(*plan, interrupt);
  bench::Report report{.what = "POST " + (arguments.batch > 1 ? form.batch_target : form.target),
                       .where = arguments.load.client.url,
                       .entry = "items",
                       .run = run,
                       .plan = *plan,
                       .outcome = outcome,
                       .interrupted = interrupt.happened()};
  if (arguments.drain && !report.interrupted) {
    const double seconds = std::chrono::duration<double>(*patience).count();
    const Result<bench::Drain> drain =
        watch_drain(**client, arguments, *before, watch, seconds, interrupt);
    if (!drain) return print_bench(report, arguments.load.client.json), failed(drain.error());
    report.drain = *drain;
    report.interrupted = interrupt.happened();
  }
  return print_bench(report, arguments.load.client.json);
}

}  // namespace

void add_bench_dispatch(cli::Command group) {
  cli::Command command = group.add(
      "dispatch",
      "Enqueue items of a type through the batch route; with --drain, watch until all are handed "
      "over.\n"
      "The type must exist: its sink gets the items. Their ids begin with what the report says.",
      {"penstock bench dispatch BENCH --requests 100 --connections 4 --drain",
       "penstock bench dispatch BENCH --batch 1 --rate 500 --at now+PT1H",
       "penstock bench dispatch BENCH --context '{\"amount\":\"12.50\"}' --requests 10"});
  const auto arguments = std::make_shared<BenchDispatchArguments>();
  arguments->load.connections = 4;
  arguments->load.requests = 100;
  command.option({.names = "TYPE", .help = "The item type", .required = true}, arguments->type);
  add_bench_options(command, arguments->load);
  command.number({.names = "--batch",
                  .value_name = "COUNT",
                  .help = "Items in each call; 1 uses the route for one"},
                 arguments->batch, 1, static_cast<std::int64_t>(wire::kBatchEntriesMax));
  command.option({.names = "--at",
                  .value_name = "TIME",
                  .help = "When the items are due: 2030-01-01T00:00:00Z, now, now+PT1H"},
                 arguments->at);
  command.option({.names = "--context", .value_name = "JSON", .help = "Of each item"},
                 arguments->context);
  command.flag("--drain", "Watch the queue until nothing waits", arguments->drain);
  command.option(
      {.names = "--drain-for", .value_name = "DURATION", .help = "How long to watch at most"},
      arguments->drain_for);
  cli::add_client_options(command, arguments->load.client, "Print the figures as JSON");
  command.action([arguments] { return run_bench_dispatch(*arguments); });
}

}  // namespace penstock::tool
