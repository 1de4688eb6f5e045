#include <fmt/format.h>

#include <memory>

#include "app/cli/exit_code.h"
#include "app/cli/table.h"
#include "app/client/answer.h"
#include "app/client/prometheus_text.h"
#include "app/commands/client_options.h"
#include "app/commands/commands.h"

namespace penstock::app {
namespace {

struct MetricsArguments {
  ClientOptions client;
  std::string match;
  bool buckets = false;
  bool raw = false;
};

void print_table(const std::vector<MetricSample>& samples) {
  std::vector<Row> rows;
  rows.reserve(samples.size());
  for (const MetricSample& sample : samples) {
    rows.push_back({sample.name, one_line(sample.value), one_line(sample.label_text())});
  }
  Table table({{"metric"}, {"value", Align::right}, {"labels"}});
  table.fit(rows);
  fmt::print("{}", table.header());
  for (const Row& row : rows) fmt::print("{}", table.line(row));
}

int run_metrics(const MetricsArguments& arguments) {
  const Result<std::unique_ptr<HttpClient>> client = make_client(arguments.client);
  if (!client) return print_error(client.error().what), kExitUsage;
  const Result<HttpAnswer> answer = (*client)->call({.target = "/metrics"});
  if (!answer) return print_error(answer.error().what), kExitUnreachable;
  if (answer->status != 200) return print_error(error_sentence(*answer)), kExitFailed;
  if (arguments.raw) return fmt::print("{}", answer->body), kExitOk;
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
  return kExitOk;
}

}  // namespace

void add_metrics(Command root) {
  Command command = root.add("metrics", "Show the metrics of a daemon as a table.",
                             {"penstock metrics --match dispatch",
                              "penstock metrics --json --buckets", "penstock metrics --raw"});
  const auto arguments = std::make_shared<MetricsArguments>();
  command.option(
      {.names = "--match", .value_name = "TEXT", .help = "Only metrics whose name has this in it"},
      arguments->match);
  command.flag("--buckets", "Also the buckets of histograms", arguments->buckets);
  command.flag("--raw", "The daemon's answer as it is, in the text format of Prometheus",
               arguments->raw);
  add_client_options(command, arguments->client, "Print an array of {name, labels, value}");
  command.calls("GET", "/metrics");
  command.action([arguments] { return run_metrics(*arguments); });
}

}  // namespace penstock::app
