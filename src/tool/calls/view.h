// The daemon's JSON answers as people read them, by the columns of a call's view. Pure: any JSON
// gives some text. Times are told from `now`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "cli/table.h"
#include "tool/calls/call.h"
#include "wire/json.h"

namespace penstock::tool {

// One value in words: 12,345; 2.371 s; yes. Empty when it is null or not there.
std::string worded(wire::JsonValue value, Form form);

// 250 ms, 2.371 s, 5 min 3 s, 2 h, 3 d 4 h; the two largest parts.
std::string spoken(Millis duration);

// The member at the end of a path of names, "sink.type"; false when there is none.
wire::JsonValue member_at(wire::JsonValue object, std::string_view path);

// The list that the view shows; false when the answer has none.
wire::JsonValue rows_of(const View& view, wire::JsonValue answer);

cli::Table table_of(const View& view);
cli::Row row_of(const View& view, wire::JsonValue element);

// The lines of the view; times with their distance from now: `2030-01-01T00:00:00Z (in 3 h 2 min)`.
std::string lines_of(const View& view, wire::JsonValue answer, Instant now);

// All of it: lines, then the table.
std::string answer_text(const View& view, wire::JsonValue answer, Instant now);

// Shows a list that comes in pages, one page in memory at a time: as one table, or as one JSON
// value. Total; writes where it is told. One thread.
class PagePrinter {
 public:
  // `limit` is how many rows are shown at most.
  PagePrinter(const View& view, bool json, std::uint64_t limit, Instant now,
              std::function<void(const std::string&)> print);

  // `more`: another page follows if rows are still wanted.
  void page(wire::JsonValue answer, bool more);
  // What is to come may still be shown.
  bool wants_more() const noexcept { return shown_ < limit_; }
  // Ends what was begun; after the last page, or when the next one could not be had.
  void end();
  // Rows were held back, or a page was not asked for.
  bool left_some() const noexcept { return left_some_; }

 private:
  void page_as_json(wire::JsonValue answer, wire::JsonValue rows);
  void page_as_table(wire::JsonValue answer, wire::JsonValue rows);

  const View& view_;
  const bool json_;
  const std::uint64_t limit_;
  const Instant now_;
  const std::function<void(const std::string&)> print_;
  cli::Table table_;
  std::uint64_t shown_ = 0;
  bool begun_ = false;
  bool left_some_ = false;
};

}  // namespace penstock::tool
