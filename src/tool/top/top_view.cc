#include "tool/top/top_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "base/iso8601.h"
#include "tool/import/progress.h"
#include "wire/json.h"

namespace penstock::tool {
namespace {

constexpr std::size_t kWidthMin = 20;
constexpr std::array<const char*, 5> kStates = {"READY", "CLAIMED", "DISPATCHED", "DEAD",
                                                "CANCELLED"};

// What a daemon says ends up on a terminal: nothing in it may steer that.
std::string safe(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c < 0x20 || c > 0x7e) c = '?';
  }
  return out;
}

std::string cut(std::string text, std::size_t width) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts = (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
    if (starts && columns++ == width) {
      text.resize(i);
      break;
    }
  }
  return text;
}

std::string count_text(double value) {
  return with_thousands(static_cast<std::uint64_t>(std::max(0.0, std::round(value))));
}

std::string rate_text(double per_second) {
  if (per_second > 0 && per_second < 10) return fmt::format("{:.1f}", per_second);
  return count_text(per_second);
}

std::string seconds_text(std::optional<double> seconds) {
  if (!seconds) return "-";
  if (*seconds < 0.001) return fmt::format("{:.0f} us", *seconds * 1e6);
  if (*seconds < 1) return fmt::format("{:.1f} ms", *seconds * 1e3);
  if (*seconds < 120) return fmt::format("{:.1f} s", *seconds);
  if (*seconds < 7'200) return fmt::format("{:.0f} min", *seconds / 60);
  return fmt::format("{:.1f} h", *seconds / 3'600);
}

// Collects lines; those that matter less go first when there is no room.
class Screenful {
 public:
  explicit Screenful(ViewSize size) : size_(size) {}

  // `rank`: 0 = always, higher = left out earlier.
  void add(std::string text, Tone tone = Tone::plain, int rank = 0) {
    lines_.push_back({{cut(std::move(text), size_.width), tone}, rank});
  }

  // Words with two blanks between, on as many lines as they need.
  void add_words(const std::string& heading, const std::vector<std::string>& words, Tone tone,
                 int rank) {
    std::string line = heading;
    const std::string indent(std::min<std::size_t>(heading.size(), 2), ' ');
    for (const std::string& word : words) {
      if (columns_of(line) + word.size() + 2 > size_.width && line != heading && line != indent) {
        add(line, tone, rank);
        line = indent;
      }
      line += (line == indent ? "" : "  ") + word;
    }
    add(line, tone, rank);
  }

  std::size_t room() const noexcept {
    return size_.height == 0 ? SIZE_MAX : size_.height - std::min(size_.height, lines_.size());
  }

  std::vector<ViewLine> take() && {
    for (int rank = 9; rank > 0 && size_.height > 0; --rank) {
      while (lines_.size() > size_.height) {
        const auto last = std::ranges::find(lines_.rbegin(), lines_.rend(), rank, &Ranked::rank);
        if (last == lines_.rend()) break;
        lines_.erase(std::next(last).base());
      }
    }
    if (size_.height > 0 && lines_.size() > size_.height) lines_.resize(size_.height);
    std::vector<ViewLine> lines;
    lines.reserve(lines_.size());
    for (Ranked& each : lines_) lines.push_back(std::move(each.line));
    return lines;
  }

 private:
  struct Ranked {
    ViewLine line;
    int rank;
  };
  ViewSize size_;
  std::vector<Ranked> lines_;
};

enum Rank : int { kAlways, kHealth, kFigures, kTypes, kHelp, kSpark, kBlank };

std::string link_text(const TopState& state) {
  switch (state.link()) {
    case TopState::Link::connecting:
      return state.problem().empty() ? "connecting" : safe(state.problem()) + "; trying again";
    case TopState::Link::lost:
      return "lost: " + safe(state.problem()) + "; trying again";
    case TopState::Link::live:
      break;
  }
  if (state.reconnects() == 0) return "live";
  return fmt::format("live, reconnected {}x", state.reconnects());
}

void add_head(Screenful& page, const TopState& state, const std::string& where) {
  const bool live = state.link() == TopState::Link::live;
  std::string title = "penstock top";
  if (live) title += "  " + link_text(state);
  if (state.time_millis() > 0) {
    title += "  " + format_instant(from_epoch_millis(state.time_millis())).substr(11, 8) + "Z";
  }
  page.add(title + "  " + safe(where), Tone::title, kAlways);
  if (!live) page.add(link_text(state), Tone::bad, kAlways);
}

void add_section(Screenful& page, ViewSize size, const std::string& heading,
                 const std::vector<std::string>& words, const std::vector<double>& spark) {
  page.add("", Tone::plain, kBlank);
  page.add_words(heading, words, Tone::heading, kFigures);
  if (spark.empty()) return;
  const double most = std::ranges::max(spark);
  std::string label = fmt::format(" {}/s at most", rate_text(most));
  if (label.size() + kWidthMin > size.width) label.clear();
  const std::size_t bars = std::min<std::size_t>(60, size.width - label.size() - 2);
  page.add("  " + sparkline(spark, bars) + label, Tone::plain, kSpark);
}

void add_figures(Screenful& page, const TopState& state, ViewSize size) {
  const auto rate = [&](std::string_view column) { return rate_text(state.rate(column)) + "/s"; };
  std::vector<std::string> decisions = {"allowed " + rate("allowed"), "denied " + rate("denied")};
  if (state.last("shadowDenied") > 0) decisions.push_back("shadow " + rate("shadowDenied"));
  decisions.push_back("keys " + count_text(state.last("throttleKeys")));
  if (state.last("throttleErrors") > 0) decisions.push_back("errors " + rate("throttleErrors"));
  add_section(page, size, "THROTTLE", decisions, state.rates({"allowed", "denied"}));
  add_section(page, size, "SLOTS",
              {"given " + rate("slotsGiven"),
               "delay " + seconds_text(state.mean("slotDelaySeconds", "slotsGiven")),
               "answered in " + seconds_text(state.mean("assignSeconds", "assigned")),
               "failures " + rate("slotFailures")},
              state.rates({"slotsGiven"}));
  add_section(page, size, "DISPATCH",
              {"handed over " + rate("dispatched"), "failed " + rate("failed"),
               "late " + seconds_text(state.mean("lateSeconds", "lateItems"))},
              state.rates({"dispatched"}));
  std::vector<std::string> depths;
  depths.reserve(std::size(kStates));
  for (const char* name : kStates)
    depths.push_back(fmt::format("{} {}", name, count_text(state.last(name))));
  page.add_words("  QUEUE", depths, Tone::plain, kFigures);
  add_section(page, size, "HTTP",
              {rate("requests"), "5xx " + rate("serverErrors"),
               "connections " + count_text(state.last("connections"))},
              {});
}

void add_health(Screenful& page, const TopState& state) {
  std::vector<std::string> up;
  for (const TopCheck& check : state.checks()) {
    if (check.up) up.push_back(safe(check.name) + " up");
  }
  page.add("", Tone::plain, kBlank);
  if (!up.empty()) page.add_words("HEALTH", up, Tone::heading, kHealth);
  for (const TopCheck& check : state.checks()) {
    if (check.up) continue;
    page.add(fmt::format("{} DOWN{}{}", safe(check.name), check.message.empty() ? "" : ": ",
                         safe(check.message)),
             Tone::bad, kHealth);
  }
}

struct TypeColumn {
  const char* title;
  int width;         // right-aligned; the name takes what is left
  std::size_t from;  // terminals at least so wide show it
};
constexpr std::array kTypeColumns = {TypeColumn{"RATE/s", 9, 0},   TypeColumn{"PACE/s", 8, 40},
                                     TypeColumn{"USED", 6, 64},    TypeColumn{"READY", 10, 0},
                                     TypeColumn{"CLAIMED", 9, 72}, TypeColumn{"DEAD", 7, 56},
                                     TypeColumn{"DRAIN", 9, 48},   TypeColumn{"STATE", 9, 80}};

std::array<std::string, kTypeColumns.size()> type_cells(const TopState& state,
                                                        const TopType& type) {
  const TopTypeSettings* settings = state.settings(type.name);
  const bool paced = settings != nullptr && settings->max_per_second.has_value();
  const char* status = "";
  if (settings != nullptr && !settings->enabled) {
    status = "off";
  } else if (type.paused) {
    status = "paused";
  } else if (!type.lease_held) {
    status = "no lease";
  }
  return {rate_text(state.type_rate(type)),
          paced ? rate_text(*settings->max_per_second) : "-",
          paced ? fmt::format("{:.0f}%", type.pace_used * 100) : "-",
          count_text(type.depths[0]),
          count_text(type.depths[1]),
          count_text(type.depths[3]),
          seconds_text(settings != nullptr ? settings->drain_seconds : std::nullopt),
          status};
}

void add_types(Screenful& page, const TopState& state, ViewSize size) {
  if (state.types().empty()) return;
  std::size_t others = 0;
  for (const TypeColumn& column : kTypeColumns) {
    if (size.width >= column.from) others += static_cast<std::size_t>(column.width);
  }
  const std::size_t name_width =
      std::min<std::size_t>(40, size.width > others + 6 ? size.width - others : std::size_t{6});
  const auto row = [&](const std::string& name, const auto& cells) {
    std::string line = fmt::format("{:<{}}", cut(name, name_width), name_width);
    for (std::size_t i = 0; i < kTypeColumns.size(); ++i) {
      if (size.width >= kTypeColumns[i].from) {
        line += fmt::format("{:>{}}", cells[i], kTypeColumns[i].width);
      }
    }
    while (line.ends_with(' ')) line.pop_back();
    return line;
  };
  std::array<std::string, kTypeColumns.size()> titles;
  std::ranges::transform(kTypeColumns, titles.begin(), &TypeColumn::title);
  page.add("", Tone::plain, kBlank);
  page.add(row("TYPE", titles), Tone::heading, kTypes);
  // The busiest first; those that nothing happens with stand last, by name.
  std::vector<const TopType*> order;
  for (const TopType& type : state.types()) order.push_back(&type);
  std::ranges::stable_sort(order, [&](const TopType* a, const TopType* b) {
    return std::pair(state.type_rate(*a), a->depths[0]) >
           std::pair(state.type_rate(*b), b->depths[0]);
  });
  const std::size_t room = std::max<std::size_t>(3, page.room());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i + 1 == room && order.size() > room) {
      page.add(fmt::format("... and {} more types", order.size() - i), Tone::dim, kTypes);
      break;
    }
    const Tone tone = order[i]->depths[3] > 0 || order[i]->paused ? Tone::bad : Tone::plain;
    page.add(row(safe(order[i]->name), type_cells(state, *order[i])), tone, kTypes);
  }
}

}  // namespace

std::size_t columns_of(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string sparkline(const std::vector<double>& values, std::size_t width) {
  static constexpr std::array kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t first = values.size() > width ? values.size() - width : 0;
  double most = 0;
  for (std::size_t i = first; i < values.size(); ++i) most = std::max(most, values[i]);
  std::string line;
  for (std::size_t i = first; i < values.size(); ++i) {
    // Nothing at all is the lowest bar; whatever is more than nothing stands above it.
    const double share = most > 0 ? std::max(0.0, values[i]) / most : 0;
    line += kBars[static_cast<std::size_t>(std::ceil(share * 7))];
  }
  return line;
}

std::vector<ViewLine> top_view(const TopState& state, const std::string& where, ViewSize size) {
  size.width = std::max(size.width, kWidthMin);
  Screenful page(size);
  add_head(page, state, where);
  add_health(page, state);
  add_figures(page, state, size);
  add_types(page, state, size);
  return std::move(page).take();
}

std::string top_json(const TopState& state, const std::string& where) {
  wire::JsonWriter out;
  const auto number = [&](std::string_view name, double value) {
    out.key(name).raw(fmt::format("{:.6g}", value));
  };
  const auto maybe = [&](std::string_view name, std::optional<double> value) {
    value ? number(name, *value) : static_cast<void>(out.key(name).null());
  };
  out.begin_object().member("url", where).member("at", from_epoch_millis(state.time_millis()));
  for (const std::string_view column :
       {"allowed", "denied", "shadowDenied", "throttleErrors", "slotsGiven", "slotFailures",
        "dispatched", "failed", "requests", "serverErrors"}) {
    number(std::string(column) + "PerSecond", state.rate(column));
  }
  number("throttleKeys", state.last("throttleKeys"));
  number("connections", state.last("connections"));
  maybe("slotDelaySeconds", state.mean("slotDelaySeconds", "slotsGiven"));
  maybe("assignSeconds", state.mean("assignSeconds", "assigned"));
  maybe("lateSeconds", state.mean("lateSeconds", "lateItems"));
  out.key("types").begin_array();
  for (const TopType& type : state.types()) {
    const TopTypeSettings* settings = state.settings(type.name);
    out.begin_object().member("itemType", type.name);
    number("perSecond", state.type_rate(type));
    maybe("maxPerSecond", settings != nullptr ? settings->max_per_second : std::nullopt);
    number("paceUsed", type.pace_used);
    out.member("paused", type.paused).member("leaseHeld", type.lease_held);
    if (settings != nullptr) out.member("enabled", settings->enabled);
    for (std::size_t i = 0; i < kStates.size(); ++i) number(kStates[i], type.depths[i]);
    maybe("predictedDrainSeconds", settings != nullptr ? settings->drain_seconds : std::nullopt);
    out.end_object();
  }
  out.end_array().key("checks").begin_array();
  for (const TopCheck& check : state.checks()) {
    out.begin_object().member("name", check.name).member("up", check.up);
    if (!check.message.empty()) out.member("message", check.message);
    out.end_object();
  }
  out.end_array().end_object();
  return std::move(out).take() + "\n";
}

}  // namespace penstock::tool
