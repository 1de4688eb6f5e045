#include "daemon/doctor/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "daemon/doctor/checks.h"
#include "runtime/threads.h"
#include "wire/json.h"

namespace penstock::daemon::doctor {
namespace {

// For what ends a moment after its deadline, such as threads of libraries.
constexpr Millis kGrace = Seconds{2};

using Types = std::vector<store::ItemTypeRecord>;

// Threads that come too late may still look at these.
struct Case {
  Config config;
  Types types;
};

// What the store of dispatch holds; a finding when it cannot be read.
RunResult read_types(const std::shared_ptr<Case>& patient, Millis limit) {
  const auto types = std::make_shared<std::optional<Types>>();
  RunResult result = run_areas(
      {{"sink.types",
        [patient, types](const runtime::Deadline& deadline) -> Findings {
          Result<Types> read = read_item_types(patient->config, deadline);
          if (!read) {
            return {skipped("sink.types", "the item types cannot be read: " + read.error().what)};
          }
          *types = std::move(*read);
          return {};
        }}},
      limit, kGrace);
  // A thread that is left running may still write.
  if (!result.left_running && *types) patient->types = std::move(**types);
  return result;
}

void add(RunResult& all, RunResult&& more) {
  append(all.findings, std::move(more.findings));
  all.left_running = all.left_running || more.left_running;
}

std::vector<Area> areas_of(const std::shared_ptr<const Case>& patient) {
  const auto of_config = [&](const char* name,
                             Findings (*check)(const Config&, const runtime::Deadline&)) -> Area {
    return {name, [patient, check](const runtime::Deadline& deadline) {
              return check(patient->config, deadline);
            }};
  };
  const auto of_types = [&](const char* name,
                            Findings (*check)(const Config&, std::span<const store::ItemTypeRecord>,
                                              const runtime::Deadline&)) -> Area {
    return {name, [patient, check](const runtime::Deadline& deadline) {
              return check(patient->config, patient->types, deadline);
            }};
  };
  std::vector<Area> areas = {
      of_config("listen", check_listen),     of_config("folder", check_folder),
      of_config("postgres", check_postgres), of_config("mariadb", check_mariadb),
      of_config("redis", check_redis),       of_types("kafka", check_kafka),
      of_types("temporal", check_temporal)};
  std::ranges::move(sink_areas(patient->config, patient->types), std::back_inserter(areas));
  areas.push_back(of_config("limits", check_limits));
  return areas;
}

// Shared with the threads, which may outlive the run.
struct Board {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::optional<Findings>> findings;  // guarded by mutex
};

Finding too_late(const std::string& area, Millis limit) {
  return failed(area,
                fmt::format("no answer within {} s", static_cast<double>(limit.count()) / 1e3),
                "see whether the network drops packets to it, or allow more by --timeout");
}

struct Style {
  std::string_view word;
  std::string_view colour;  // of a terminal
};

Style style_of(Status status) {
  switch (status) {
    case Status::ok:
      return {"OK", "\x1b[32m"};
    case Status::warning:
      return {"WARN", "\x1b[33m"};
    case Status::failed:
      return {"FAIL", "\x1b[31m"};
    case Status::skipped:
      break;
  }
  return {"SKIP", "\x1b[2m"};
}

// What servers say may have line feeds and colours of its own.
std::string plain(std::string_view text) {
  std::string out(text);
  std::ranges::replace_if(
      out, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return out;
}

constexpr std::size_t kNameColumns = 22;  // of the longest names

std::string_view word_of(const Counts& counts) {
  if (counts.failed > 0) return "failed";
  return counts.warnings > 0 ? "warnings" : "ok";
}

}  // namespace

RunResult examine(const std::string& file, const Loaded& loaded, Millis limit) {
  RunResult all{.findings = check_config(file, loaded)};
  std::vector<Area> areas;
  if (loaded) {
    const auto patient = std::make_shared<Case>(Case{.config = loaded->config, .types = {}});
    add(all, read_types(patient, limit));
    areas = areas_of(patient);
  } else {
    all.findings.push_back(
        skipped("config", "stores, sinks, addresses and limits wait for settings that hold"));
  }
  areas.push_back({"clock", check_clock});
  add(all, run_areas(std::move(areas), limit, kGrace));
  return all;
}

RunResult run_areas(std::vector<Area> areas, Millis limit, Millis grace) {
  const auto board = std::make_shared<Board>();
  board->findings.resize(areas.size());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < areas.size(); ++i) {
    names.push_back(areas[i].name);
    std::thread([board, i, limit, area = std::move(areas[i])] {
      runtime::set_thread_name("doctor");
      Findings findings = area.check(runtime::Deadline(limit));
      const std::lock_guard lock(board->mutex);
      board->findings[i] = std::move(findings);
      board->changed.notify_all();
    }).detach();
  }
  const runtime::Deadline deadline(limit + grace);
  RunResult result;
  std::unique_lock lock(board->mutex);
  for (std::size_t i = 0; i < names.size(); ++i) {
    board->changed.wait_for(lock, std::chrono::milliseconds(deadline.remaining().count()),
                            [&] { return board->findings[i].has_value(); });
    if (!board->findings[i]) {
      result.left_running = true;
      result.findings.push_back(too_late(names[i], limit));
      continue;
    }
    append(result.findings, *std::move(board->findings[i]));
  }
  return result;
}

void append(Findings& findings, Findings more) {
  std::ranges::move(more, std::back_inserter(findings));
}

Counts count(const Findings& findings) noexcept {
  const auto of = [&](Status status) {
    return static_cast<std::size_t>(std::ranges::count(findings, status, &Finding::status));
  };
  return {.ok = of(Status::ok),
          .warnings = of(Status::warning),
          .failed = of(Status::failed),
          .skipped = of(Status::skipped)};
}

std::string text_report(const Findings& findings, bool coloured) {
  std::string out;
  for (const Finding& finding : findings) {
    const Style style = style_of(finding.status);
    out += fmt::format("{}{:<4}{}  {:<{}}  {}\n", coloured ? style.colour : "", style.word,
                       coloured ? "\x1b[0m" : "", finding.name, kNameColumns, plain(finding.found));
    if (!finding.fix.empty()) {
      out += fmt::format("{:6}{:<{}}  -> {}\n", "", "", kNameColumns, plain(finding.fix));
    }
  }
  const Counts counts = count(findings);
  out += fmt::format("{} OK, {} warning{}, {} failed, {} skipped\n", counts.ok, counts.warnings,
                     counts.warnings == 1 ? "" : "s", counts.failed, counts.skipped);
  return out;
}

std::string json_report(const Findings& findings) {
  const Counts counts = count(findings);
  const auto number = [](std::size_t n) { return static_cast<std::int64_t>(n); };
  wire::JsonWriter out;
  out.begin_object().member("status", word_of(counts)).member("version", PENSTOCK_VERSION);
  out.key("checks").begin_array();
  for (const Finding& finding : findings) {
    out.begin_object()
        .member("name", finding.name)
        .member("status", style_of(finding.status).word)
        .member("found", finding.found);
    if (!finding.fix.empty()) out.member("fix", finding.fix);
    out.end_object();
  }
  out.end_array().key("counts").begin_object();
  out.member("ok", number(counts.ok))
      .member("warnings", number(counts.warnings))
      .member("failed", number(counts.failed))
      .member("skipped", number(counts.skipped))
      .end_object()
      .end_object();
  return std::move(out).take();
}

}  // namespace penstock::daemon::doctor
