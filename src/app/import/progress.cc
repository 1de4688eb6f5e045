#include "app/import/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/iso8601.h"
#include "wire/json.h"

namespace penstock::app {
namespace {

constexpr std::size_t kReasonsMax = 20;  // a summary is for reading; all lines stand in --errors
constexpr std::size_t kBarColumns = 24;

double rate(std::uint64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

std::string bar(double share) {
  const auto full = static_cast<std::size_t>(share * kBarColumns);
  return "[" + std::string(full, '#') + std::string(kBarColumns - full, '.') + "]";
}

// 59s, 4m05s, 3h07m
std::string clock_text(double seconds) {
  const auto s = static_cast<std::uint64_t>(std::clamp(seconds, 0.0, 359'999.0));
  if (s < 60) return fmt::format("{}s", s);
  if (s < 3600) return fmt::format("{}m{:02}s", s / 60, s % 60);
  return fmt::format("{}h{:02}m", s / 3600, s / 60 % 60);
}

}  // namespace

void ImportTally::count_reason(const std::string& reason) {
  const auto known = reasons.find(reason);
  if (known != reasons.end()) {
    ++known->second;
  } else {
    ++reasons[reasons.size() < kReasonsMax ? reason : "other reasons"];
  }
}

std::string with_thousands(std::uint64_t number) {
  std::string digits = fmt::format("{}", number);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string progress_line(const ProgressView& view, std::size_t width) {
  std::string line;
  if (view.bytes_total && *view.bytes_total > 0) {
    const double share =
        std::min(1.0, static_cast<double>(view.bytes) / static_cast<double>(*view.bytes_total));
    line += fmt::format("{} {:3.0f}%  ", bar(share), share * 100);
  }
  line += fmt::format("{} lines  {}/s", with_thousands(view.lines),
                      with_thousands(static_cast<std::uint64_t>(rate(view.lines, view.seconds))));
  if (view.failed > 0) line += fmt::format("  {} failed", with_thousands(view.failed));
  if (!view.waiting_for.empty()) {
    line += "  waiting: " + view.waiting_for;
  } else if (view.bytes_total && view.bytes > 0 && view.bytes <= *view.bytes_total) {
    const double left = static_cast<double>(*view.bytes_total - view.bytes);
    line += "  ETA " + clock_text(view.seconds * left / static_cast<double>(view.bytes));
  }
  if (line.size() > width) line.resize(width);
  return line;
}

std::string summary_text(const ImportTally& tally, double seconds) {
  std::string text;
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<15}{:>12}\n", name, value);
  };
  row("lines read", with_thousands(tally.read));
  row("assigned", with_thousands(tally.assigned));
  row("failed", with_thousands(tally.failed));
  for (const auto& [reason, count] : tally.reasons) {
    text += fmt::format("{:>27}  {}\n", with_thousands(count), reason);
  }
  if (tally.unanswered() > 0) row("not answered", with_thousands(tally.unanswered()));
  if (tally.retries > 0) row("batches retried", with_thousands(tally.retries));
  row("seconds", fmt::format("{:.1f}", seconds));
  row("events/s", with_thousands(static_cast<std::uint64_t>(rate(tally.assigned, seconds))));
  if (!tally.latest_scheduled_time.empty()) {
    text += fmt::format("{:<15}{}\n", "latest slot", tally.latest_scheduled_time);
  }
  return text;
}

std::string summary_json(const ImportTally& tally, double seconds) {
  const auto number = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
  wire::JsonWriter out;
  out.begin_object()
      .member("linesRead", number(tally.read))
      .member("assigned", number(tally.assigned))
      .member("failed", number(tally.failed))
      .member("notAnswered", number(tally.unanswered()))
      .member("batchesRetried", number(tally.retries))
      .key("seconds")
      .raw(fmt::format("{:.3f}", seconds))
      .key("reasons")
      .begin_array();
  for (const auto& [reason, count] : tally.reasons) {
    out.begin_object().member("reason", reason).member("lines", number(count)).end_object();
  }
  out.end_array().key("latestScheduledTime");
  if (tally.latest_scheduled_time.empty()) {
    out.null();
  } else {
    out.value(std::string_view(tally.latest_scheduled_time));
  }
  out.end_object();
  return std::move(out).take() + "\n";
}

}  // namespace penstock::app
