#include "tool/import/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/iso8601.h"
#include "wire/json.h"

namespace penstock::tool {
namespace {

constexpr std::size_t kReasonsMax = 20;  // a summary is for reading; all lines stand in --errors
constexpr std::size_t kBarColumns = 24;

double per_second(std::uint64_t count, double seconds) {
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

void ImportTally::count(const LineAnswer& answer) {
  switch (answer.fate) {
    case LineFate::accepted:
      ++accepted;
      break;
    case LineFate::known:
      ++known;
      break;
    case LineFate::held:
      ++held;
      break;
    case LineFate::rejected:
      ++rejected;
      break;
    case LineFate::failed:
      ++failed;
      break;
  }
  if (!answer.taken()) return count_reason(answer.reason);
  latest_scheduled_time = std::max(latest_scheduled_time, answer.scheduled_time);
}

void ImportTally::count_reason(const std::string& reason) {
  const auto found = reasons.find(reason);
  if (found != reasons.end()) {
    ++found->second;
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
  line +=
      fmt::format("{} lines  {}/s", with_thousands(view.lines),
                  with_thousands(static_cast<std::uint64_t>(per_second(view.lines, view.seconds))));
  if (view.failed > 0) line += fmt::format("  {} failed", with_thousands(view.failed));
  if (!view.waiting_for.empty()) {
    line += "  waiting: " + view.waiting_for;
  } else if (view.bytes_total && view.bytes > view.bytes_before &&
             view.bytes <= *view.bytes_total) {
    const double left = static_cast<double>(*view.bytes_total - view.bytes);
    const auto done = static_cast<double>(view.bytes - view.bytes_before);
    line += "  ETA " + clock_text(view.seconds * left / done);
  }
  if (line.size() > width) line.resize(width);
  return line;
}

}  // namespace penstock::tool
