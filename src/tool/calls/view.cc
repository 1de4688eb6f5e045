#include "tool/calls/view.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/iso8601.h"
#include "tool/import/progress.h"

namespace penstock::tool {

namespace {

using wire::JsonType;
using wire::JsonValue;

bool is_number(Form form) {
  switch (form) {
    case Form::count:
    case Form::millis:
    case Form::seconds:
    case Form::minutes:
    case Form::duration:
    case Form::per_second:
      return true;
    case Form::text:
    case Form::instant:
    case Form::yes_no:
    case Form::json:
      break;
  }
  return false;
}

// Without fractions of a second that are zero.
std::string short_instant(std::string_view text) {
  if (text.ends_with(".000Z")) return std::string(text.substr(0, text.size() - 5)) + "Z";
  return cli::one_line(text);
}

std::string grouped(std::int64_t number) {
  // 0 - x and not -x: the smallest number has no positive twin.
  return number < 0 ? "-" + with_thousands(0 - static_cast<std::uint64_t>(number))
                    : with_thousands(static_cast<std::uint64_t>(number));
}

std::string spoken_number(std::int64_t number, std::int64_t millis_each) {
  constexpr std::int64_t kMost = std::int64_t{100'000} * 86'400'000;  // as parse_duration
  if (number < 0) return "never";  // how the API says it: retryAfterMs -1
  if (number > kMost / millis_each) return grouped(number);
  return spoken(Millis{number * millis_each});
}

std::string distance(Instant at, Instant now) {
  const auto apart = [](Instant from, Instant to) {
    return spoken(std::chrono::duration_cast<Millis>(to - from));
  };
  return at >= now ? fmt::format(" (in {})", apart(now, at))
                   : fmt::format(" ({} ago)", apart(at, now));
}

// The first of the alternatives "sink.url|sink.topic" that has a value.
JsonValue first_of(JsonValue object, std::string_view fields) {
  for (;; fields.remove_prefix(fields.find('|') + 1)) {
    const JsonValue value = member_at(object, fields.substr(0, fields.find('|')));
    if ((value && !value.is_null()) || fields.find('|') == fields.npos) return value;
  }
}

}  // namespace

std::string spoken(Millis duration) {
  const std::int64_t ms = duration.count();
  const std::int64_t seconds = ms / 1'000;
  const auto parts = [](std::int64_t large, const char* unit, std::int64_t small,
                        const char* small_unit) {
    return small == 0 ? fmt::format("{} {}", large, unit)
                      : fmt::format("{} {} {} {}", large, unit, small, small_unit);
  };
  if (ms < 1'000) return fmt::format("{} ms", ms);
  if (seconds < 60 && ms % 1'000 != 0) return fmt::format("{}.{:03} s", seconds, ms % 1'000);
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3'600) return parts(seconds / 60, "min", seconds % 60, "s");
  if (seconds < 86'400) return parts(seconds / 3'600, "h", seconds / 60 % 60, "min");
  return parts(seconds / 86'400, "d", seconds / 3'600 % 24, "h");
}

std::string worded(JsonValue value, Form form) {
  if (!value || value.is_null()) return "";
  if (value.type() == JsonType::boolean && form == Form::yes_no) {
    return value.boolean() ? "yes" : "no";
  }
  if (value.type() == JsonType::number) {
    const std::optional<std::int64_t> number = value.integer();
    if (form == Form::per_second) {
      return (number ? grouped(*number) : std::string(value.raw())) + "/s";
    }
    if (number && form == Form::count) return grouped(*number);
    if (number && form == Form::millis) return spoken_number(*number, 1);
    if (number && form == Form::seconds) return spoken_number(*number, 1'000);
    if (number && form == Form::minutes) return spoken_number(*number, 60'000);
  }
  if (value.type() != JsonType::string) return cli::one_line(value.raw());
  if (form == Form::instant) return short_instant(value.string());
  if (form == Form::duration) {
    if (const Result<Millis> duration = parse_duration(value.string())) return spoken(*duration);
  }
  return cli::one_line(value.string());
}

JsonValue member_at(JsonValue object, std::string_view path) {
  for (JsonValue value = object;; path.remove_prefix(path.find('.') + 1)) {
    if (!value) return value;
    value = value.find(path.substr(0, path.find('.')));
    if (path.find('.') == path.npos) return value;
  }
}

JsonValue rows_of(const View& view, JsonValue answer) {
  return view.rows == "." ? answer : member_at(answer, view.rows);
}

cli::Table table_of(const View& view) {
  std::vector<cli::Heading> headings;
  for (const Column& column : view.columns) {
    headings.push_back(
        {column.label, is_number(column.form) ? cli::Align::right : cli::Align::left});
  }
  return cli::Table(std::move(headings));
}

cli::Row row_of(const View& view, JsonValue element) {
  cli::Row row;
  for (const Column& column : view.columns) {
    std::string text = worded(first_of(element, column.field), column.form);
    row.push_back(text.empty() ? "-" : std::move(text));
  }
  return row;
}

std::string lines_of(const View& view, JsonValue answer, Instant now) {
  std::vector<cli::Fact> facts;
  for (const Column& column : view.lines) {
    const JsonValue value = first_of(answer, column.field);
    std::string text = worded(value, column.form);
    if (column.form == Form::instant && value && value.type() == JsonType::string) {
      if (const Result<Instant> at = parse_instant(value.string())) text += distance(*at, now);
    }
    facts.push_back({std::string(column.label), std::move(text)});
  }
  return cli::fact_lines(facts);
}

std::string answer_text(const View& view, JsonValue answer, Instant now) {
  std::string text = lines_of(view, answer, now);
  if (view.columns.empty()) return text;
  const JsonValue list = rows_of(view, answer);
  const std::string gap = text.empty() ? "" : "\n";
  if (!list || list.type() != JsonType::array || list.size() == 0) {
    return view.none.empty() ? text : fmt::format("{}{}{}\n", text, gap, view.none);
  }
  std::vector<cli::Row> rows;
  for (JsonValue element = list.first(); element; element = element.next()) {
    rows.push_back(row_of(view, element));
  }
  cli::Table table = table_of(view);
  table.fit(rows);
  text += gap + table.header();
  for (const cli::Row& row : rows) text += table.line(row);
  return text;
}

using wire::JsonType;
using wire::JsonValue;

PagePrinter::PagePrinter(const View& view, bool json, std::uint64_t limit, Instant now,
                         std::function<void(const std::string&)> print)
    : view_(view),
      json_(json),
      limit_(limit),
      now_(now),
      print_(std::move(print)),
      table_(table_of(view)) {}

void PagePrinter::page(JsonValue answer, bool more) {
  const JsonValue rows = rows_of(view_, answer);
  const std::uint64_t count = rows && rows.type() == JsonType::array ? rows.size() : 0;
  if (json_) {
    page_as_json(answer, rows);
  } else {
    page_as_table(answer, rows);
  }
  left_some_ = shown_ + count > limit_ || (more && shown_ + count >= limit_);
  shown_ = std::min(limit_, shown_ + count);
  begun_ = true;
}

void PagePrinter::page_as_json(JsonValue answer, JsonValue rows) {
  if (!begun_ && view_.rows == ".") print_("[");
  if (!begun_ && view_.rows != ".") {
    std::string head = "{";
    if (answer.type() == JsonType::object) {
      for (JsonValue member = answer.first(); member; member = member.next()) {
        if (member.key() == view_.rows) continue;
        wire::append_json_string(head, member.key());
        head += fmt::format(":{},", member.raw());
      }
    }
    print_(fmt::format("{}\"{}\":[", head, view_.rows));
  }
  if (!rows || rows.type() != JsonType::array) return;
  std::string text;
  std::uint64_t number = shown_;
  for (JsonValue row = rows.first(); row && number < limit_; row = row.next(), ++number) {
    if (number > 0) text += ',';
    text += row.raw();
  }
  print_(text);
}

void PagePrinter::page_as_table(JsonValue answer, JsonValue rows) {
  std::string text;
  if (!begun_) text = lines_of(view_, answer, now_);
  std::vector<cli::Row> lines;
  if (rows && rows.type() == JsonType::array) {
    for (JsonValue row = rows.first(); row && shown_ + lines.size() < limit_; row = row.next()) {
      lines.push_back(row_of(view_, row));
    }
  }
  table_.fit(lines);
  if (!begun_) {
    if (!text.empty()) text += '\n';
    text += lines.empty() ? fmt::format("{}\n", view_.none) : table_.header();
  }
  for (const cli::Row& line : lines) text += table_.line(line);
  print_(text);
}

void PagePrinter::end() {
  if (json_ && begun_) print_(view_.rows == "." ? "]\n" : "]}\n");
}

}  // namespace penstock::tool
