#include "tool/calls/pages.h"

#include <fmt/format.h>

#include <algorithm>

#include "tool/calls/view.h"

namespace penstock::tool {

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
