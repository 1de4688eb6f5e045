#include "tool/calls/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/iso8601.h"
#include "cli/input_text.h"
#include "wire/json.h"

namespace penstock::tool {
namespace {

constexpr std::string_view kNone = "none";

std::unexpected<Error> refuse(std::string what) {
  return fail(ErrorKind::invalid, std::move(what));
}

bool is_integer_within(std::string_view text, std::int64_t min, std::int64_t max) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= min && value <= max;
}

template <class T>
Result<void> verdict(const Result<T>& value) {
  if (value) return {};
  return std::unexpected(value.error());
}

Result<void> check_json(std::string_view text, wire::JsonType wanted, const char* what) {
  const Result<wire::JsonDocument> document = wire::parse_json(text);
  if (document && document->root().type() == wanted) return {};
  return refuse(what);
}

// A value as JSON; checked before.
std::string as_json(const Argument& argument, const std::vector<std::string>& values, Instant now) {
  std::string out;
  const std::string& text = values.front();
  if (argument.nullable && text == kNone) return "null";
  switch (argument.kind) {
    case ArgumentKind::integer:
    case ArgumentKind::decimal:
    case ArgumentKind::boolean:
    case ArgumentKind::json:
      return text;
    case ArgumentKind::texts:
      for (const std::string& each : values) {
        out += out.empty() ? '[' : ',';
        wire::append_json_string(out, each);
      }
      return out + ']';
    case ArgumentKind::time:
      wire::append_json_string(out, format_instant(*cli::parse_time_argument(text, now)));
      return out;
    case ArgumentKind::text:
    case ArgumentKind::duration:
      break;
  }
  wire::append_json_string(out, text);
  return out;
}

// A value as text, for the path and the query.
std::string as_text(const Argument& argument, const std::string& text, Instant now) {
  if (argument.kind != ArgumentKind::time) return text;
  return format_instant(*cli::parse_time_argument(text, now));
}

// The first word of the closed set of a Place::route stands for `route`, the second for the other.
const wire::RouteInfo& chosen_route(const Call& call, const Typed& typed) {
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const Argument& argument = call.arguments[i];
    if (argument.place != Place::route || typed[i].empty()) continue;
    if (!argument.value_name.starts_with(typed[i].front() + "|")) return *call.other_route;
  }
  return *call.route;
}

struct Member {
  std::string name;
  std::string json;
};

std::string object_of(const std::vector<Member>& members) {
  std::string out = "{";
  for (const Member& member : members) {
    if (out.size() > 1) out += ',';
    wire::append_json_string(out, member.name);
    out += ":" + member.json;
  }
  return out + "}";
}

// The error's `what` is a predicate.
Result<std::vector<Member>> members_of(std::string_view json) {
  const Result<wire::JsonDocument> document = wire::parse_json(json);
  if (!document) return refuse("is not JSON: " + document.error().what);
  if (document->root().type() != wire::JsonType::object) return refuse("must be a JSON object");
  std::vector<Member> members;
  for (wire::JsonValue member = document->root().first(); member; member = member.next()) {
    members.push_back({std::string(member.key()), std::string(member.raw())});
  }
  return members;
}

// Sets a member, in the place that it has if it is there; `path` is name or name.name.
void set_member(std::vector<Member>& members, std::string_view path, const std::string& json) {
  const std::size_t dot = path.find('.');
  const std::string name(path.substr(0, dot));
  auto found = std::ranges::find(members, name, &Member::name);
  if (found == members.end()) found = members.insert(members.end(), {name, "{}"});
  if (dot == path.npos) {
    found->json = json;
    return;
  }
  std::vector<Member> inner = members_of(found->json).value_or(std::vector<Member>());
  set_member(inner, path.substr(dot + 1), json);
  found->json = object_of(inner);
}

// A request while it is put together.
struct Parts {
  std::string path;
  std::string query;
  std::vector<Member> body = {};
};

Result<void> put_argument(Parts& parts, const Argument& argument,
                          const std::vector<std::string>& values, Instant now) {
  for (const std::string& text : values) {
    if (const Result<void> good = check_value(argument, text, now); !good) {
      return refuse(fmt::format("{} {}", argument.names, good.error().what));
    }
  }
  if (argument.place == Place::body) {
    const std::string json = as_json(argument, values, now);
    if (const Result<wire::JsonDocument> good = wire::parse_json(json); !good) {
      return refuse(fmt::format("{}: {}", argument.names, good.error().what));
    }
    set_member(parts.body, argument.field, json);
    return {};
  }
  const std::string text = http::percent_encoded(as_text(argument, values.front(), now));
  if (argument.place == Place::route) return {};
  if (argument.place == Place::query) {
    parts.query += fmt::format("{}{}={}", parts.query.empty() ? "" : "&", argument.field, text);
    return {};
  }
  const std::string hole = fmt::format("{{{}}}", argument.field);
  parts.path.replace(parts.path.find(hole), hole.size(), text);
  return {};
}

}  // namespace

Result<void> check_value(const Argument& argument, const std::string& text, Instant now) {
  if (argument.nullable && text == kNone) return {};
  switch (argument.kind) {
    case ArgumentKind::integer:
      if (is_integer_within(text, argument.min, argument.max)) return {};
      return refuse(fmt::format("must be a whole number from {} to {}{}", argument.min,
                                argument.max, argument.nullable ? ", or none" : ""));
    case ArgumentKind::decimal:
      return check_json(text, wire::JsonType::number, "must be a number, such as 0.5");
    case ArgumentKind::boolean:
      if (text == "true" || text == "false") return {};
      return refuse("must be true or false");
    case ArgumentKind::time:
      return verdict(cli::parse_time_argument(text, now));
    case ArgumentKind::duration:
      return verdict(parse_duration(text));
    case ArgumentKind::text:
    case ArgumentKind::texts:
    case ArgumentKind::json:  // may name a file; checked when that was read
      break;
  }
  return {};
}

Result<http::HttpCall> build_request(const Call& call, const Typed& typed, std::string_view whole,
                                     Instant now) {
  const wire::RouteInfo& route = chosen_route(call, typed);
  Parts parts{.path = std::string(route.pattern), .query = std::string(call.query)};
  Result<std::vector<Member>> members = members_of(whole.empty() ? "{}" : whole);
  if (!members) return refuse("--body " + members.error().what);
  parts.body = *std::move(members);
  const auto always = PENSTOCK_TRY(members_of(fmt::format("{{{}}}", call.body_members)));
  for (const Member& member : always) set_member(parts.body, member.name, member.json);
  bool has_body = !call.body_members.empty();
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const Argument& argument = call.arguments[i];
    has_body = has_body || argument.place == Place::body;
    if (typed[i].empty()) continue;
    PENSTOCK_TRY(put_argument(parts, argument, typed[i], now));
  }
  return http::HttpCall{.method = std::string(wire::to_string(route.method)),
                        .target = parts.query.empty() ? parts.path : parts.path + "?" + parts.query,
                        .body = has_body ? object_of(parts.body) : ""};
}

std::string_view entries_type(const Call& call, std::string_view file, std::string_view body) {
  if (call.route->body != wire::BodyLimit::batch) return "application/json";
  if (call.csv && file.ends_with(".csv")) return "text/csv";
  const std::size_t first = body.find_first_not_of(" \t\r\n");
  if (first != body.npos && body[first] == '[') return "application/json";
  if (call.csv && first != body.npos && body[first] != '{') return "text/csv";
  return "application/x-ndjson";
}

std::string filled(const Call& call, std::string_view text, const Typed& typed) {
  std::string out(text);
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const std::string hole = fmt::format("{{{}}}", call.arguments[i].field);
    const std::size_t at = out.find(hole);
    if (at != out.npos && !typed[i].empty()) out.replace(at, hole.size(), typed[i].front());
  }
  return out;
}

}  // namespace penstock::tool
