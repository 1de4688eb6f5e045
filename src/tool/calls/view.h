// The daemon's JSON answers as people read them, by the columns of a call's view. Pure: any JSON
// gives some text. Times are told from `now`.
#pragma once

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

}  // namespace penstock::tool
