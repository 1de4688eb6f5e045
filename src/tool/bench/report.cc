#include "tool/bench/report.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "engine/http/answer.h"
#include "tool/import/progress.h"
#include "wire/json.h"

namespace penstock::tool::bench {
namespace {

constexpr std::array kQuantiles = {std::pair{"p50", 0.5}, std::pair{"p90", 0.9},
                                   std::pair{"p99", 0.99}, std::pair{"p999", 0.999}};

std::string code_name(Protocol protocol, std::size_t code) {
  if (protocol == Protocol::http) return std::to_string(code);
  switch (code) {
    case kRespAllowed:
      return "allowed";
    case kRespLimited:
      return "limited";
    case kRespError:
      return "error";
    default:
      return "other";
  }
}

bool is_well(Protocol protocol, std::size_t code) noexcept {
  if (protocol == Protocol::resp) return code == kRespAllowed || code == kRespLimited;
  return (code >= 200 && code < 300) || code == 429;
}

struct NamedError {
  const char* name;   // of JSON
  const char* words;  // for people
  std::uint64_t Tally::* count;
};
constexpr std::array kErrors = {
    NamedError{"connect", "could not connect", &Tally::connect_errors},
    NamedError{"lost", "connection lost", &Tally::lost},
    NamedError{"timeout", "timed out", &Tally::timed_out},
    NamedError{"malformed", "answer not understood", &Tally::malformed},
    NamedError{"unfinished", "no answer before the end", &Tally::unfinished},
    NamedError{"unsent", "due, no connection free", &Tally::unsent},
};

std::uint64_t rounded(double value) { return static_cast<std::uint64_t>(std::llround(value)); }
std::int64_t number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

std::string problem_sentence(const Report& report) {
  const Tally& tally = report.outcome.tally;
  if (report.plan.protocol == Protocol::http && tally.first_problem_code != 0) {
    return http::error_sentence({.status = tally.first_problem_code,
                                 .body = tally.first_problem,
                                 .retry_after = std::nullopt});
  }
  return tally.first_problem;
}

std::string loop_text(const Plan& plan) {
  std::string text =
      fmt::format("{} connection{}, {} thread{}", plan.connections,
                  plan.connections == 1 ? "" : "s", plan.threads, plan.threads == 1 ? "" : "s");
  if (plan.pipeline > 1) text += fmt::format(", pipeline {}", plan.pipeline);
  if (plan.request.entries > 1)
    text += fmt::format(", {} a call", with_thousands(plan.request.entries));
  return text + (plan.rate > 0 ? fmt::format(", open loop at {}/s", with_thousands(plan.rate))
                               : ", closed loop");
}

}  // namespace

double Report::per_second() const noexcept {
  return outcome.seconds > 0 ? static_cast<double>(outcome.tally.answers) / outcome.seconds : 0;
}

double Report::drain_per_second() const noexcept {
  return drain && drain->seconds > 0 ? static_cast<double>(drain->items) / drain->seconds : 0;
}

bool Report::all_well() const noexcept {
  const Tally& tally = outcome.tally;
  if (tally.answers == 0 || tally.errors() > 0) return false;
  for (std::size_t i = 0; i < tally.codes.size(); ++i) {
    if (tally.codes[i] > 0 && !is_well(plan.protocol, i)) return false;
  }
  return !drain || drain->complete;
}

std::string duration_text(Micros duration) {
  const auto micros = static_cast<double>(duration.count());
  if (micros < 1e3) return fmt::format("{} us", duration.count());
  if (micros < 1e6) return fmt::format("{:.2f} ms", micros / 1e3);
  return fmt::format("{:.2f} s", micros / 1e6);
}

std::string bytes_text(std::uint64_t bytes) {
  static constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string report_text(const Report& report) {
  const Tally& tally = report.outcome.tally;
  std::string text =
      fmt::format("{} at {}\n{}\n\n", report.what, report.where, loop_text(report.plan));
  const auto row = [&text](std::string_view name, const std::string& value,
                           std::string_view more = "") {
    text += fmt::format("{:<15}{:>13}{}{}\n", name, value, more.empty() ? "" : "  ", more);
  };
  row("answers", with_thousands(tally.answers), report.interrupted ? "(interrupted)" : "");
  row("seconds", fmt::format("{:.2f}", report.outcome.seconds));
  row("answers/s", with_thousands(rounded(report.per_second())));
  const std::uint64_t entries = report.plan.request.entries;
  if (entries > 1) {
    const double rate = report.outcome.seconds > 0
                            ? static_cast<double>(tally.good_entries) / report.outcome.seconds
                            : 0;
    row(report.entry, with_thousands(tally.good_entries),
        fmt::format("of {}", with_thousands(tally.answers * entries)));
    row(report.entry + "/s", with_thousands(rounded(rate)));
  }
  for (std::size_t i = 0; i < tally.codes.size(); ++i) {
    if (tally.codes[i] > 0) {
      row("  " + code_name(report.plan.protocol, i), with_thousands(tally.codes[i]));
    }
  }
  for (const NamedError& error : kErrors) {
    if (tally.*error.count > 0) row("error", with_thousands(tally.*error.count), error.words);
  }
  row("sent", bytes_text(tally.bytes_sent));
  row("received", bytes_text(tally.bytes_received));
  text += report.plan.rate > 0 ? "\nlatency, from when each request was due\n" : "\nlatency\n";
  for (const auto& [name, share] : kQuantiles) row(name, duration_text(tally.latencies.at(share)));
  row("max", duration_text(tally.latencies.max()));
  if (report.drain) {
    text += "\n";
    row("drained", with_thousands(report.drain->items),
        report.drain->complete ? "" : "(not empty yet)");
    row("drain seconds", fmt::format("{:.2f}", report.drain->seconds));
    row("drained/s", with_thousands(rounded(report.drain_per_second())));
  }
  if (!report.run.empty()) text += fmt::format("\nids begin with {}\n", report.run);
  if (!tally.first_problem.empty() || tally.first_problem_code != 0) {
    text += fmt::format("\nthe first that went wrong: {}\n", problem_sentence(report));
  }
  return text;
}

std::string report_json(const Report& report) {
  const Plan& plan = report.plan;
  const Tally& tally = report.outcome.tally;
  wire::JsonWriter out;
  out.begin_object()
      .member("what", report.what)
      .member("where", report.where)
      .member("connections", number(plan.connections))
      .member("threads", number(plan.threads))
      .member("pipeline", number(plan.pipeline))
      .member("batch", number(plan.request.entries))
      .key("rate");
  plan.rate > 0 ? out.value(number(plan.rate)) : out.null();
  out.member("interrupted", report.interrupted)
      .key("seconds")
      .raw(fmt::format("{:.6f}", report.outcome.seconds))
      .member("answers", number(tally.answers))
      .key("perSecond")
      .raw(fmt::format("{:.1f}", report.per_second()))
      .key("statuses")
      .begin_object();
  for (std::size_t i = 0; i < tally.codes.size(); ++i) {
    if (tally.codes[i] > 0) out.member(code_name(plan.protocol, i), number(tally.codes[i]));
  }
  out.end_object();
  if (plan.request.entries > 1) out.member("entriesTaken", number(tally.good_entries));
  out.key("errors").begin_object();
  for (const NamedError& error : kErrors) out.member(error.name, number(tally.*error.count));
  out.end_object()
      .member("bytesSent", number(tally.bytes_sent))
      .member("bytesReceived", number(tally.bytes_received))
      .key("latencyMicros")
      .begin_object()
      .member("count", number(tally.latencies.count()))
      .member("min", tally.latencies.min().count())
      .key("mean")
      .raw(fmt::format("{:.1f}", tally.latencies.mean_micros()));
  for (const auto& [name, share] : kQuantiles) out.member(name, tally.latencies.at(share).count());
  out.member("max", tally.latencies.max().count()).end_object();
  if (report.drain) {
    out.key("drain")
        .begin_object()
        .member("items", number(report.drain->items))
        .key("seconds")
        .raw(fmt::format("{:.6f}", report.drain->seconds))
        .key("perSecond")
        .raw(fmt::format("{:.1f}", report.drain_per_second()))
        .member("complete", report.drain->complete)
        .end_object();
  }
  if (!report.run.empty()) out.member("idPrefix", report.run);
  if (!tally.first_problem.empty() || tally.first_problem_code != 0) {
    out.member("firstProblem", problem_sentence(report));
  }
  out.end_object();
  return std::move(out).take() + "\n";
}

std::string load_line(const Plan& plan, const LoadProgress& now, std::size_t width) {
  const double limit = std::chrono::duration<double>(plan.duration).count();
  const double rate = now.seconds > 0 ? static_cast<double>(now.answers) / now.seconds : 0;
  std::string line = fmt::format("{:.1f} of {:.1f} s  {} answers  {}/s", now.seconds, limit,
                                 with_thousands(now.answers), with_thousands(rounded(rate)));
  if (now.errors > 0) line += fmt::format("  {} errors", with_thousands(now.errors));
  if (line.size() > width) line.resize(width);
  return line;
}

}  // namespace penstock::tool::bench
