// What a load found, for people and for programs. Pure; safe on any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tool/bench/load.h"

namespace penstock::tool::bench {

// How a queue that a load filled was emptied.
struct Drain {
  double seconds = 0;  // from the first item enqueued
  std::uint64_t items = 0;
  bool complete = false;
};

struct Report {
  std::string what;   // "POST /api/v1/throttle/check"
  std::string where;  // "http://127.0.0.1:8080"
  std::string entry;  // what a batch has several of: "events"
  std::string run;    // what the ids of this run begin with; empty = it made none
  const Plan& plan;
  const LoadOutcome& outcome;
  bool interrupted = false;
  std::optional<Drain> drain = std::nullopt;

  double per_second() const noexcept;
  double drain_per_second() const noexcept;
  // Every request got an answer, and each answer is a success or a refusal by a limit.
  bool all_well() const noexcept;
};

std::string report_text(const Report& report);
std::string report_json(const Report& report);

// One line of at most `width` columns, for a terminal, while the load runs.
std::string load_line(const Plan& plan, const LoadProgress& now, std::size_t width);

// "730 us", "1.52 ms", "12.3 s"
std::string duration_text(Micros duration);
std::string bytes_text(std::uint64_t bytes);  // "1.5 MiB"

}  // namespace penstock::tool::bench
