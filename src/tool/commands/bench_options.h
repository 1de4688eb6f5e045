// What the commands of `penstock bench` have in common: options, the rules about where load may go,
// the run and its report.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/client_options.h"
#include "cli/terminal.h"
#include "tool/bench/load.h"
#include "tool/bench/report.h"

namespace penstock::tool {

struct BenchOptions {
  cli::ClientOptions client;  // of the HTTP commands; all have --json and --timeout
  std::int64_t connections = 64;
  std::int64_t threads = 1;
  std::string duration = "PT10S";
  std::int64_t requests = 0;
  std::int64_t rate = 0;
  std::string yes_load;
};

// `options` must live until the command has run.
void add_bench_options(cli::Command& command, BenchOptions& options);

// Everything but the requests. An error of kind `unavailable` means that nobody is there.
Result<bench::Plan> bench_plan(const BenchOptions& options, const std::string& host,
                               std::uint16_t port);

// For the HTTP commands: the plan with its requests, `batch` entries each.
Result<bench::Plan> http_bench_plan(const BenchOptions& options, const bench::HttpForm& form,
                                    std::int64_t batch);

int bench_failed(const Error& error);

// Runs it with a progress line on a terminal.
bench::LoadOutcome run_bench(const bench::Plan& plan, const cli::Interrupt& interrupt);
// Prints the report; gives the exit code.
int print_bench(const bench::Report& report, bool json);

// What the ids of this run begin with: no other run has the same.
std::string bench_run_prefix();

}  // namespace penstock::tool
