#include "daemon/doctor/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "wire/json.h"

namespace penstock::daemon::doctor {
namespace {

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
