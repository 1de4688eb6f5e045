// `penstock doctor`: what a check finds, checks that run beside each other, each within its time,
// and their report. The judgements of checks.h make findings from what was seen, so that they can
// be tested without servers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "daemon/config/load.h"
#include "runtime/clocks.h"

namespace penstock::daemon::doctor {

enum class Status : std::uint8_t { ok, warning, failed, skipped };

struct Finding {
  std::string name;  // "postgres.schema": area, dot, check
  Status status = Status::ok;
  std::string found = {};  // what is there, for people
  std::string fix = {};    // what to do, one sentence; empty when nothing is to be done

  friend bool operator==(const Finding&, const Finding&) = default;
};
using Findings = std::vector<Finding>;

inline Finding ok(std::string name, std::string found) {
  return {std::move(name), Status::ok, std::move(found)};
}
inline Finding warning(std::string name, std::string found, std::string fix) {
  return {std::move(name), Status::warning, std::move(found), std::move(fix)};
}
inline Finding failed(std::string name, std::string found, std::string fix) {
  return {std::move(name), Status::failed, std::move(found), std::move(fix)};
}
inline Finding skipped(std::string name, std::string why) {
  return {std::move(name), Status::skipped, std::move(why)};
}
// The same words for each grade of what was found.
inline Finding graded(std::string name, bool fails, bool warns, std::string found,
                      std::string fix) {
  if (!fails && !warns) return ok(std::move(name), std::move(found));
  return {std::move(name), fails ? Status::failed : Status::warning, std::move(found),
          std::move(fix)};
}

void append(Findings& findings, Findings more);

struct Counts {
  std::size_t ok = 0;
  std::size_t warnings = 0;
  std::size_t failed = 0;
  std::size_t skipped = 0;
};
Counts count(const Findings& findings) noexcept;

struct Area {
  std::string name;  // "postgres": what is said to be late when it is
  // Called on a thread of its own. What it uses must be its own: should it come too late, it is
  // left alone and may still run when the others are done.
  std::function<Findings(const runtime::Deadline&)> check;
};

struct RunResult {
  Findings findings;          // in the order of the areas
  bool left_running = false;  // some area did not come back: leave the process without clean-up
};

// A check is told `limit` and has `grace` beyond it; then it counts as failed.
RunResult run_areas(std::vector<Area> areas, Millis limit, Millis grace);

using Loaded = std::expected<LoadedConfig, std::vector<std::string>>;

// Every check. Takes at most twice `limit` and some seconds: the item types first, then all else at
// once. Without a config that holds, only the machine is looked at. `file`: of the config, for
// messages.
RunResult examine(const std::string& file, const Loaded& loaded, Millis limit);

// A line for each finding, its fix below it, the sum at the end.
std::string text_report(const Findings& findings, bool coloured);

// {"status": "ok|warnings|failed", "version", "checks": [{name, status, found, fix}], "counts":
// {…}}
std::string json_report(const Findings& findings);

}  // namespace penstock::daemon::doctor
