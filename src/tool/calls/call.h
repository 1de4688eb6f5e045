// A call of the API as a row of a table: what is typed, what is sent, how the answer is shown.
// Commands, help, completion, man page and the test against the daemon's routes are made from it.
// Plain data about literals; safe on any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace penstock::tool {

enum class ArgumentKind : std::uint8_t {
  text,
  integer,   // from `min` to `max`
  decimal,   // any JSON number, sent with the digits that were typed
  boolean,   // true or false
  time,      // 2025-06-01T12:00:00Z, now, now+PT1H
  duration,  // PT4S
  json,      // JSON text, @FILE, or - for standard input
  texts,     // several, sent as an array
};

enum class Place : std::uint8_t { path, query, body };

struct Argument {
  std::string_view names;  // "--cost"; "KEY" for a positional argument
  // {field} of the path, parameter of the query, or member of the body; "slot.config" is a member
  // of a member. Members of one member stand next to each other.
  std::string_view field;
  std::string_view help;
  ArgumentKind kind = ArgumentKind::text;
  Place place = Place::body;
  std::string_view value_name = {};  // "a|b" is a closed set
  bool required = false;
  std::string_view fallback = {};  // sent when nothing was typed
  std::int64_t min = 0;            // of an integer; of `texts` max is how many there may be
  std::int64_t max = 0;
  bool nullable = false;  // `none` is sent as null
};

enum class BodySource : std::uint8_t {
  arguments,  // an object of the arguments that were typed
  whole,      // the same, over the members of --body
  entries,    // FILE: a JSON array, NDJSON, or CSV
};

// How a value is worded.
enum class Form : std::uint8_t {
  text,
  count,     // 12,345
  millis,    // 2.371 s
  seconds,   // 5 min 3 s
  minutes,   // 2 h
  duration,  // ISO-8601, as 4 s
  instant,
  yes_no,
  per_second,  // 50/s
  json,        // as it came
};

struct Column {
  std::string_view label;
  std::string_view field;  // "sink.type" is a member of a member, "a|b" the first that is there
  Form form = Form::text;
};

struct View {
  std::vector<Column> lines = {};    // members of the answer, one a line
  std::string_view rows = {};        // the member with the list; "." = the answer is the list
  std::vector<Column> columns = {};  // of the list
  std::string_view none = {};        // said when the list is empty
  std::string_view done = {};        // said of an answer without a body; {field} is what was typed
};

struct Call {
  std::string_view name;
  std::string_view method;
  std::string_view path;  // "/api/v1/slots/{eventId}"
  std::string_view description;
  std::vector<std::string_view> examples;
  std::vector<Argument> arguments = {};
  BodySource body = BodySource::arguments;
  std::string_view body_members = {};  // always sent: `"enabled":true`
  std::string_view query = {};         // always sent: `status=DEAD`
  bool csv = false;                    // `entries` may be CSV, too
  bool paged = false;                  // has --limit and --all, follows the Link header
  int shown_status = 0;  // an error whose body says as much as a good answer; 0 = none
  View view = {};
};

}  // namespace penstock::tool
