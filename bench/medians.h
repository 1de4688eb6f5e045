// Runs the benchmarks of a program of Google Benchmark and keeps what every repetition took, so
// that ratios are of the middle ones. Times are of the processor, not of the wall, so that other
// work on the machine moves them less.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace penstock::bench {

class Medians : public benchmark::ConsoleReporter {
 public:
  Medians() : ConsoleReporter(OO_Tabular) {}

  // Five repetitions of `seconds` each, unless the flags say otherwise. False: there are unknown
  // flags.
  bool run(int argc, char** argv, const std::string& seconds) {
    std::vector<char*> args(argv, argv + argc);
    std::string repetitions = "--benchmark_repetitions=5";
    std::string min_time = "--benchmark_min_time=" + seconds;
    args.insert(args.begin() + 1, {repetitions.data(), min_time.data()});  // the user's own win
    int count = static_cast<int>(args.size());
    benchmark::Initialize(&count, args.data());
    if (benchmark::ReportUnrecognizedArguments(count, args.data())) return false;
    benchmark::RunSpecifiedBenchmarks(this);
    return true;
  }

  // Of one benchmark by its name; 0 when it did not run.
  double nanos(const std::string& name) { return middle(nanos_[name]); }
  double rate(const std::string& name) { return middle(rates_[name]); }  // by the wall clock

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.error_occurred) continue;
      const std::string& name = run.run_name.function_name;
      nanos_[name].push_back(run.cpu_accumulated_time * 1e9 / static_cast<double>(run.iterations));
      const auto rate = run.counters.find("items_per_second");
      if (rate != run.counters.end()) rates_[name].push_back(rate->second);
    }
    ConsoleReporter::ReportRuns(runs);
  }

 private:
  static double middle(std::vector<double>& all) {
    if (all.empty()) return 0;
    std::ranges::sort(all);
    return all[all.size() / 2];
  }

  std::map<std::string, std::vector<double>> nanos_;
  std::map<std::string, std::vector<double>> rates_;
};

}  // namespace penstock::bench
