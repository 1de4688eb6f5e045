#include <fmt/format.h>

#include <memory>

#include "cli/client_options.h"
#include "cli/exit_code.h"
#include "cli/table.h"
#include "engine/http/answer.h"
#include "tool/commands/commands.h"
#include "tool/top/prometheus_text.h"

namespace penstock::tool {
namespace {

struct MetricsArguments {
  cli::ClientOptions client;
  std::string match;
  bool buckets = false;
  bool raw = false;
};

void print_table(const std::vector<MetricSample>& samples) {
  std::vector<cli::Row> rows;
  rows.reserve(samples.size());
  for (const MetricSample& sample : samples) {
    rows.push_back({sample.name, cli::one_line(sample.value), cli::one_line(sample.label_text())});
  }
  cli::Table table({{"metric"}, {"value", cli::Align::right}, {"labels"}});
  table.fit(rows);
  fmt::print("{}", table.header());
  for (const cli::Row& row : rows) fmt::print("{}", table.line(row));
}

int run_metrics(const MetricsArguments& arguments) {
  const Result<std::unique_ptr<http::HttpClient>> client = cli::make_client(arguments.client);
  if (!client) return cli::print_error(client.error().what), cli::kExitUsage;
  const Result<http::HttpAnswer> answer = (*client)->call({.target = "/metrics"});
  if (!answer) return cli::print_error(answer.error().what), cli::kExitUnreachable;
  if (answer->status != 200)
    return cli::print_error(http::error_sentence(*answer)), cli::kExitFailed;
  if (arguments.raw) return fmt::print("{}", answer->body), cli::kExitOk;
  std::vector<MetricSample> samples = parse_prometheus(answer->body);
  std::erase_if(samples, [&](const MetricSample& sample) {
    return sample.name.find(arguments.match) == std::string::npos ||
           (!arguments.buckets && sample.name.ends_with("_bucket"));
  });
  if (arguments.client.json) {
    fmt::print("{}\n", samples_json(samples));
  } else {
    print_table(samples);
  }
  return cli::kExitOk;
}

}  // namespace

void add_metrics(cli::Command root) {
  cli::Command command = root.add("metrics", "Show the metrics of a daemon as a table.",
                                  {"penstock metrics --match dispatch",
                                   "penstock metrics --json --buckets", "penstock metrics --raw"});
  const auto arguments = std::make_shared<MetricsArguments>();
  command.option(
      {.names = "--match", .value_name = "TEXT", .help = "Only metrics whose name has this in it"},
      arguments->match);
  command.flag("--buckets", "Also the buckets of histograms", arguments->buckets);
  command.flag("--raw", "The daemon's answer as it is, in the text format of Prometheus",
               arguments->raw);
  cli::add_client_options(command, arguments->client, "Print an array of {name, labels, value}");
  command.calls("GET", "/metrics");
  command.action([arguments] { return run_metrics(*arguments); });
}

}  // namespace penstock::tool
