#include "tool/calls/call.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace penstock::tool {
namespace {

constexpr std::int64_t kUserIdMax = 2'147'483'647;

struct PathName {
  std::string_view name;
  std::string_view help;
};

// What the {names} of paths stand for.
constexpr std::array<PathName, 7> kPathNames = {{
    {"eventId", "The event"},
    {"itemType", "The type of the items"},
    {"itemId", "The item within its type"},
    {"paymentId", "The payment"},
    {"key", "The key, or the pattern of a policy"},
    {"userId", "The user, a number"},
    {"messageId", "The message, as `gateway send` names it"},
}};

// "maxPerSecond" with a `-` before each capital: "max-per-second".
std::string kebab(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') out += '-';
    out += ascii_lower(c);
  }
  return out;
}

// EVENT_ID of {eventId}.
Argument path_argument(std::string_view name) {
  std::string label = kebab(name);
  for (char& c : label) c = c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  const auto* const known = std::ranges::find(kPathNames, name, &PathName::name);
  Argument argument{.names = std::move(label),
                    .field = std::string(name),
                    .help = std::string(known == kPathNames.end() ? name : known->help),
                    .place = Place::path,
                    .required = true};
  if (name == "userId") {
    argument.kind = ArgumentKind::integer;
    argument.max = kUserIdMax;
  }
  return argument;
}

// The unit that the name of a number ends with.
std::string unit_of(std::string_view name) {
  if (name.ends_with("Ms")) return "MILLIS";
  if (name.ends_with("Secs") || name.ends_with("Seconds")) return "SECONDS";
  if (name.ends_with("Mins") || name.ends_with("Minutes")) return "MINUTES";
  return "COUNT";
}

// --max-per-second of maxPerSecond.
Argument flag_of(const FieldInfo& field) {
  Argument argument{.names = "--" + kebab(field.name),
                    .field = std::string(field.name),
                    .help = std::string(field.help),
                    .min = field.min,
                    .max = field.max,
                    .nullable = field.removable && !field.secret};
  if (argument.help.ends_with('.')) argument.help.pop_back();
  switch (field.kind) {
    case FieldKind::boolean:
      argument.kind = ArgumentKind::boolean;
      break;
    case FieldKind::integer:
      argument.kind = ArgumentKind::integer;
      argument.value_name = unit_of(field.name);
      break;
    case FieldKind::decimal:
      argument.kind = ArgumentKind::decimal;
      break;
    case FieldKind::duration:
      argument.kind = ArgumentKind::duration;
      break;
    case FieldKind::choice:
      for (const std::string_view choice : field.choices) {
        if (!argument.value_name.empty()) argument.value_name += '|';
        argument.value_name += choice;
      }
      argument.nullable = false;
      break;
    case FieldKind::texts:
      argument.kind = ArgumentKind::texts;
      argument.max = static_cast<std::int64_t>(field.count_max);
      break;
    case FieldKind::text:
      break;
    default:  // a record, one of several records, any JSON
      argument.kind = ArgumentKind::json;
      argument.help += ": JSON text, @FILE, or - for standard input";
      break;
  }
  return argument;
}

}  // namespace

Call complete(Call call) {
  std::vector<Argument> own = std::move(call.arguments);
  const auto has = [&own](std::string_view field) {
    return std::ranges::find(own, field, &Argument::field) != own.end();
  };
  call.arguments.clear();
  std::string_view rest = call.route->pattern;
  for (std::size_t open = rest.find('{'); open != rest.npos; open = rest.find('{')) {
    rest.remove_prefix(open + 1);
    const std::string_view name = rest.substr(0, rest.find('}'));
    if (!has(name)) call.arguments.push_back(path_argument(name));
  }
  call.arguments.insert(call.arguments.end(), own.begin(), own.end());
  const bool takes_fields = call.body_members.empty() && call.body != BodySource::file;
  if (call.route->request == nullptr || !takes_fields) return call;
  for (const FieldInfo& field : call.route->request->fields) {
    if (has(field.name) || field.name == call.without) continue;
    call.arguments.push_back(flag_of(field));
    call.arguments.back().required = field.required && call.body == BodySource::arguments &&
                                     call.route->method != wire::Method::patch;
  }
  return call;
}

std::string description_of(const Call& call) {
  std::string text(call.about);
  if (text.empty()) {
    text = call.route->summary;
    if (!text.ends_with('?')) text += '.';
  }
  if (!call.note.empty()) text.append("\n").append(call.note);
  return text;
}

}  // namespace penstock::tool
