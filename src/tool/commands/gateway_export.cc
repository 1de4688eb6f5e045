#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/iso8601.h"
#include "cli/client_options.h"
#include "cli/exit_code.h"
#include "cli/input_text.h"
#include "cli/output_file.h"
#include "engine/http/answer.h"
#include "runtime/clocks.h"
#include "tool/commands/commands.h"
#include "wire/json.h"
#include "wire/json_fields.h"

namespace penstock::tool {
namespace {

constexpr std::size_t kPageLines = 10'000;  // the most that a page has: under a megabyte

struct GatewayArguments {
  cli::ClientOptions client;
  std::string format = "ndjson";
  std::string output = "-";
  std::string from = "now-P1D";
  std::string to = "now";
  bool attempts = false;
};

// Where a page ends, as the next one is asked for: attempts have a name, minutes have a place.
Result<std::string> mark_of(std::string_view line, bool attempts) {
  const wire::JsonDocument document = PENSTOCK_TRY(wire::parse_json(line));
  wire::JsonFields fields(document.root());
  if (attempts) {
    const std::string_view id = fields.required_string("id");
    if (fields.error()) return std::unexpected(*fields.error());
    return http::percent_encoded(id);
  }
  const std::string_view at = fields.required_string("at");
  const std::int64_t user = fields.required_integer("userId");
  if (fields.error()) return std::unexpected(*fields.error());
  return http::percent_encoded(fmt::format("{},{}", at, user));
}

struct Page {
  std::size_t lines = 0;
  std::string_view last;
};

Page look_at(std::string_view body) {
  Page page{.lines = static_cast<std::size_t>(std::ranges::count(body, '\n')), .last = {}};
  if (page.lines == 0) return page;
  body.remove_suffix(1);
  const std::size_t before = body.rfind('\n');
  page.last = before == std::string_view::npos ? body : body.substr(before + 1);
  return page;
}

int run_usage_export(const GatewayArguments& arguments) {
  const Instant now = runtime::SystemClock().now();
  std::string target = fmt::format("/api/analytics/{}?limit={}",
                                   arguments.attempts ? "attempts" : "export", kPageLines);
  for (const auto& [name, text] : {std::pair{"from", &arguments.from}, {"to", &arguments.to}}) {
    const Result<Instant> instant = cli::parse_time_argument(*text, now);
    if (!instant) {
      cli::print_error(fmt::format("--{}: {}", name, instant.error().what));
      return cli::kExitUsage;
    }
    target += fmt::format("&{}={}", name, http::percent_encoded(format_instant(*instant)));
  }
  const Result<std::unique_ptr<http::HttpClient>> client = cli::make_client(arguments.client);
  if (!client) return cli::print_error(client.error().what), cli::kExitUsage;
  Result<cli::OutputFile> out = cli::OutputFile::open(arguments.output);
  if (!out) return cli::print_error(out.error().what), cli::kExitFailed;
  std::uint64_t count = 0;
  for (std::string after;;) {
    const Result<http::HttpAnswer> answer = (*client)->call({.target = target + after});
    if (!answer) return cli::print_error(answer.error().what), cli::kExitUnreachable;
    if (answer->status != 200)
      return cli::print_error(http::error_sentence(*answer)), cli::kExitFailed;
    if (const Result<void> written = out->write(answer->body); !written) {
      return cli::print_error(written.error().what), cli::kExitFailed;
    }
    const Page page = look_at(answer->body);
    count += page.lines;
    if (page.lines < kPageLines) break;
    const Result<std::string> mark = mark_of(page.last, arguments.attempts);
    if (!mark)
      return cli::print_error("the daemon's answer: " + mark.error().what), cli::kExitFailed;
    after = "&after=" + *mark;
  }
  if (const Result<void> closed = out->close(); !closed) {
    return cli::print_error(closed.error().what), cli::kExitFailed;
  }
  fmt::print(stderr, "exported {} rows\n", count);
  return cli::kExitOk;
}

}  // namespace

void add_gateway_export(cli::Command gateway) {
  cli::Command command = gateway.add(
      "export",
      "Write what users sent, were refused and failed to send, by user and minute: a line of JSON "
      "for each.",
      {"penstock gateway export > usage.ndjson",
       "penstock gateway export --from 2025-06-01T00:00:00Z --to 2025-06-02T00:00:00Z",
       "penstock gateway export --attempts > attempts.ndjson"});
  const auto arguments = std::make_shared<GatewayArguments>();
  command.option({.names = "--format",
                  .value_name = "ndjson",
                  .help = "Form of the rows; names are those of the API",
                  .check = cli::one_of("ndjson")},
                 arguments->format);
  command.flag("--attempts", "Each attempt instead of counts; kept where gateway.attempts says so",
               arguments->attempts);
  command.option({.names = "--from",
                  .value_name = "TIME",
                  .help = "First minute: 2025-06-01T12:00:00Z, now, now-P1D"},
                 arguments->from);
  command.option({.names = "--to", .value_name = "TIME", .help = "End, not included"},
                 arguments->to);
  command.option({.names = "--output", .value_name = "FILE", .help = "- is standard output"},
                 arguments->output);
  cli::add_client_options(command, arguments->client);
  command.calls("GET", "/api/analytics/export");
  command.calls("GET", "/api/analytics/attempts");
  command.action([arguments] { return run_usage_export(*arguments); });
}

}  // namespace penstock::tool
