// A call of the API as a row of a table: what is typed, what is sent, how the answer is shown.
// Method, path and summary stand in the route table (wire/http/routes.h), names and bounds of a
// body in the description of its record; a row has what only a command line needs. Commands, help,
// completion, man page and the test against the daemon's routes are made from it. Plain data; safe
// on any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/http/routes.h"
#include "wire/json.h"

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

enum class Place : std::uint8_t {
  path,
  query,
  body,
  route,  // chooses: the first word `route`, the second `other_route`
};

struct Argument {
  std::string names;  // "--cost"; "KEY" for a positional argument
  // {field} of the path, parameter of the query, or member of the body; "slot.config" is a member
  // of a member. Members of one member stand next to each other.
  std::string field;
  std::string help;
  ArgumentKind kind = ArgumentKind::text;
  Place place = Place::body;
  std::string value_name = {};  // "a|b" is a closed set
  bool required = false;
  std::string_view fallback = {};  // sent when nothing was typed
  std::int64_t min = 0;            // of an integer; of `texts` max is how many there may be
  std::int64_t max = 0;
  bool nullable = false;  // `none` is sent as null
};

enum class BodySource : std::uint8_t {
  arguments,  // an object of the arguments that were typed
  whole,      // the same, over the members of --body
  file,       // FILE: of a batch a JSON array, NDJSON, or CSV; else JSON
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
  std::string (*words)(wire::JsonValue answer) = nullptr;  // instead of lines and a table
};

struct Call {
  std::string_view name;
  const wire::RouteInfo* route = nullptr;
  std::string_view about = {};  // the description, where the summary of the route does not fit
  std::string_view note = {};   // lines that follow either
  std::vector<std::string_view> examples = {};
  // Those that the path and the body do not give by themselves, and those that do it in other
  // words.
  std::vector<Argument> arguments = {};
  BodySource body = BodySource::arguments;
  std::string_view without = {};       // a described field that the path says already
  std::string_view body_members = {};  // always sent: `"enabled":true`
  std::string_view query = {};         // always sent: `status=DEAD`
  bool csv = false;                    // FILE may be CSV, too
  bool paged = false;                  // has --limit and --all, follows the Link header
  int shown_status = 0;  // an error whose body says as much as a good answer; 0 = none
  const wire::RouteInfo* other_route = nullptr;  // Place::route
  View view = {};
};

// The call with all its arguments: a positional one for each {name} of the path, then its own, then
// a flag for each field of the described body. One that the call has already is left to it.
Call complete(Call call);

// Its summary as a sentence, or what it says instead, and its note.
std::string description_of(const Call& call);

// Commands of one group.
struct CallGroup {
  std::string_view words = {};  // "gateway config"; empty = the commands stand alone
  std::string_view description = {};
  std::vector<Call> calls;
};

CallGroup slot_calls();
CallGroup slot_config_calls();
CallGroup throttle_calls();
CallGroup policy_calls();
CallGroup key_calls();
CallGroup dispatch_calls();
CallGroup item_type_calls();
CallGroup payment_calls();
CallGroup payment_rule_calls();
CallGroup gateway_calls();
CallGroup quota_calls();
CallGroup window_calls();
CallGroup daemon_calls();

// Views of their own form. Pure: any JSON gives some text.
std::string slot_view(wire::JsonValue slot);        // one line, more when the answer has a status
std::string windows_view(wire::JsonValue windows);  // a table with a bar per window
std::string configs_view(wire::JsonValue configs);  // one config, or an array of versions
std::string payment_view(wire::JsonValue payment);
std::string rules_view(wire::JsonValue rules);

}  // namespace penstock::tool
