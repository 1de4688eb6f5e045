#include <fmt/format.h>

#include <memory>

#include "base/iso8601.h"
#include "cli/input_text.h"
#include "runtime/clocks.h"
#include "runtime/secret_file.h"
#include "tool/commands/bench_options.h"
#include "tool/commands/commands.h"
#include "wire/batch.h"
#include "wire/resp_writer.h"

namespace penstock::tool {
namespace {

constexpr const char* kJsonHelp = "Print the figures as JSON";
constexpr std::int64_t kKeysMax = 1'000'000'000;
using Field = bench::RequestTemplate::Field;

// Which keys a throttle load asks about.
struct KeyOptions {
  std::int64_t keys = 10'000;
  std::string prefix = "bench:";
  std::string key;

  bool is_one() const noexcept { return !key.empty(); }
  const std::string& text() const noexcept { return is_one() ? key : prefix; }
};

void add_key_options(cli::Command& command, KeyOptions& options) {
  command.number({.names = "--keys",
                  .value_name = "COUNT",
                  .help = "Each request asks about one of so many keys at random; 1 = one hot key"},
                 options.keys, 1, kKeysMax);
  command.option({.names = "--key-prefix",
                  .value_name = "TEXT",
                  .help = "What the keys begin with; twelve digits follow"},
                 options.prefix);
  command.option({.names = "--key",
                  .value_name = "KEY",
                  .help = "One hot key of this name, instead of --keys and --key-prefix"},
                 options.key);
}

void add_batch_option(cli::Command& command, std::int64_t& batch) {
  command.number({.names = "--batch",
                  .value_name = "COUNT",
                  .help = "Above 1: so many in each call of the batch route"},
                 batch, 1, static_cast<std::int64_t>(wire::kBatchEntriesMax));
}

int run_http(const BenchOptions& options, const bench::HttpForm& form, std::int64_t batch,
             std::int64_t keys, const std::string& entry, const std::string& run_prefix) {
  Result<bench::Plan> plan = http_bench_plan(options, form, batch);
  if (!plan) return bench_failed(plan.error());
  plan->keys = static_cast<std::uint64_t>(keys);
  const cli::Interrupt interrupt;
  const bench::LoadOutcome outcome = run_bench(*plan, interrupt);
  return print_bench({.what = "POST " + (batch > 1 ? form.batch_target : form.target),
                      .where = options.client.url,
                      .entry = entry,
                      .run = run_prefix,
                      .plan = *plan,
                      .outcome = outcome,
                      .interrupted = interrupt.happened()},
                     options.client.json);
}

void add_throttle(cli::Command group) {
  struct BenchArguments {
    BenchOptions load;
    KeyOptions keys;
    std::int64_t cost = 1;
    std::int64_t batch = 1;
  };
  cli::Command command =
      group.add("throttle", "Load POST /api/v1/throttle/check, or its batch route.",
                {"penstock bench throttle --connections 64 --duration PT10S",
                 "penstock bench throttle --rate 5000 --keys 1000000 --json",
                 "penstock bench throttle --key user:7 --batch 100 --connections 4"});
  const auto arguments = std::make_shared<BenchArguments>();
  add_bench_options(command, arguments->load);
  add_key_options(command, arguments->keys);
  command.number({.names = "--cost", .value_name = "COUNT", .help = "What each check costs"},
                 arguments->cost, 0, kKeysMax);
  add_batch_option(command, arguments->batch);
  cli::add_client_options(command, arguments->load.client, kJsonHelp);
  command.action([arguments] {
    const KeyOptions& keys = arguments->keys;
    const std::string tail =
        arguments->cost == 1 ? "\"}" : fmt::format("\",\"cost\":{}}}", arguments->cost);
    const bench::HttpForm form{.target = "/api/v1/throttle/check",
                               .batch_target = "/api/v1/throttle/check/batch",
                               .good_entry = "\"allowed\":true",
                               .entry = {.before = "{\"key\":" + bench::json_text_open(keys.text()),
                                         .field = Field::key,
                                         .has_field = !keys.is_one(),
                                         .after = tail}};
    return run_http(arguments->load, form, arguments->batch, keys.keys, "allowed", "");
  });
}

void add_bench_slots(cli::Command group) {
  struct BenchArguments {
    BenchOptions load;
    std::string config;
    std::string at = "now";
    std::string max_delay;
    std::int64_t batch = 1;
  };
  cli::Command command = group.add(
      "slots",
      "Load POST /api/v1/slots, or its batch route. Every event is new.\n"
      "The events stay in the store; their ids begin with what the report says at its end.",
      {"penstock bench slots --connections 64",
       "penstock bench slots --batch 1000 --connections 4 --config payments",
       "penstock bench slots --rate 2000 --at 2030-01-01T00:00:00Z --max-delay P30D"});
  const auto arguments = std::make_shared<BenchArguments>();
  add_bench_options(command, arguments->load);
  command.option({.names = "--config",
                  .value_name = "NAME",
                  .help = "Config whose windows are used; without it, the daemon's default"},
                 arguments->config);
  command.option({.names = "--at",
                  .value_name = "TIME",
                  .help = "Requested time of all: 2030-01-01T00:00:00Z, now, now+PT1H"},
                 arguments->at);
  command.option({.names = "--max-delay",
                  .value_name = "DURATION",
                  .help = "Latest start after the requested time; without it, the daemon's"},
                 arguments->max_delay);
  add_batch_option(command, arguments->batch);
  cli::add_client_options(command, arguments->load.client, kJsonHelp);
  command.action([arguments] {
    const Result<Instant> at =
        cli::parse_time_argument(arguments->at, runtime::SystemClock().now());
    if (!at) {
      return bench_failed({.kind = ErrorKind::invalid, .what = "--at: " + at.error().what});
    }
    std::string tail = fmt::format("\",\"requestedTime\":\"{}\"", format_instant(*at));
    if (!arguments->config.empty()) {
      tail += ",\"configName\":" + bench::json_text(arguments->config);
    }
    if (!arguments->max_delay.empty()) {
      tail += ",\"maxDelay\":" + bench::json_text(arguments->max_delay);
    }
    const std::string run = bench_run_prefix();
    const bench::HttpForm form{.target = "/api/v1/slots",
                               .batch_target = "/api/v1/slots/batch",
                               .good_entry = "\"scheduledTime\":",
                               .entry = {.before = "{\"eventId\":\"" + run,
                                         .field = Field::id,
                                         .has_field = true,
                                         .after = tail + "}"}};
    return run_http(arguments->load, form, arguments->batch, 1, "events", run);
  });
}

struct RespArguments {
  BenchOptions load;
  KeyOptions keys;
  std::string address = "127.0.0.1:6380";
  std::string password_file;
  std::int64_t pipeline = 1;
  std::int64_t burst = 1'000'000;
  std::int64_t count = 1'000;
  std::int64_t period = 1;
  std::int64_t cost = 1;
};

int run_resp(const RespArguments& arguments) {
  const Result<http::Url> url = http::parse_url("http://" + arguments.address);
  if (!url || !url->base_path.empty()) {
    return bench_failed({.kind = ErrorKind::invalid, .what = "--resp: must be ADDR:PORT"});
  }
  std::string hello;
  if (!arguments.password_file.empty()) {
    const Result<runtime::SecretFile> password =
        runtime::read_password_file(arguments.password_file);
    if (!password) return bench_failed({.kind = ErrorKind::invalid, .what = password.error().what});
    wire::append_resp_request(hello, {"AUTH", password->secret});
  }
  Result<bench::Plan> plan = bench_plan(arguments.load, url->host, url->port);
  if (!plan) return bench_failed(plan.error());
  plan->protocol = bench::Protocol::resp;
  plan->hello = hello;
  plan->pipeline = static_cast<std::size_t>(arguments.pipeline);
  plan->keys = static_cast<std::uint64_t>(arguments.keys.keys);
  bench::RespForm form{
      .key = arguments.keys.text(), .has_field = !arguments.keys.is_one(), .numbers = {}};
  for (const std::int64_t number :
       {arguments.burst, arguments.count, arguments.period, arguments.cost}) {
    form.numbers.push_back(std::to_string(number));
  }
  plan->request = bench::resp_requests(form);
  const cli::Interrupt interrupt;
  const bench::LoadOutcome outcome = run_bench(*plan, interrupt);
  return print_bench({.what = "CL.THROTTLE",
                      .where = arguments.address,
                      .entry = "",
                      .run = "",
                      .plan = *plan,
                      .outcome = outcome,
                      .interrupted = interrupt.happened()},
                     arguments.load.client.json);
}

void add_resp(cli::Command group) {
  cli::Command command =
      group.add("resp",
                "Load CL.THROTTLE on the port for Redis clients.\n"
                "The limit stands in each request: --burst, and --count in --period "
                "seconds.",
                {"penstock bench resp --resp 127.0.0.1:6380 --pipeline 16",
                 "penstock bench resp --rate 10000 --keys 1",
                 "penstock bench resp --burst 15 --count 30 --period 60 --keys 100"});
  const auto arguments = std::make_shared<RespArguments>();
  command.option({.names = "--resp", .value_name = "ADDR:PORT", .help = "Where the daemon listens"},
                 arguments->address);
  command.option({.names = "--password-file",
                  .value_name = "FILE",
                  .help = "File with the password of the port"},
                 arguments->password_file);
  add_bench_options(command, arguments->load);
  command.number({.names = "--pipeline,-P",
                  .value_name = "COUNT",
                  .help = "Requests under way on each connection"},
                 arguments->pipeline, 1, bench::kPipelineMax);
  add_key_options(command, arguments->keys);
  command.number({.names = "--burst", .value_name = "COUNT", .help = "max_burst of CL.THROTTLE"},
                 arguments->burst, 0, 1'000'000'000);
  command.number({.names = "--count", .value_name = "COUNT", .help = "Allowed in each period"},
                 arguments->count, 1, 1'000'000'000);
  command.number({.names = "--period", .value_name = "SECONDS", .help = "The period"},
                 arguments->period, 1, 31'622'400);
  command.number({.names = "--cost", .value_name = "COUNT", .help = "What each request costs"},
                 arguments->cost, 0, 1'000'000'000);
  cli::add_answer_options(command, arguments->load.client, kJsonHelp);
  command.action([arguments] { return run_resp(*arguments); });
}

}  // namespace

void add_bench(cli::Command root) {
  cli::Command group = root.add(
      "bench",
      "Put load on a daemon and measure rate and latency.\n"
      "Bounded by --duration and --requests; plain TCP only. It refuses any target that is not\n"
      "loopback unless --yes-load HOST names it. Ctrl-C ends it with the figures so far.",
      {});
  add_bench_slots(group);
  add_throttle(group);
  add_resp(group);
  add_bench_dispatch(group);
}

}  // namespace penstock::tool
