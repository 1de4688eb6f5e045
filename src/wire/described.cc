#include "wire/described.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/iso8601.h"
#include "base/nearest.h"

namespace penstock::wire {
namespace {

std::string path_of(const ReadRecord& how, std::string_view name) {
  return std::string(how.path).append(name);
}

std::unexpected<Error> wrong_type(std::string_view path, JsonType wanted, JsonType found) {
  return invalid_field(
      path,
      std::string("must be ").append(to_string(wanted)).append(", not ").append(to_string(found)));
}

Result<FieldValue> read_texts(JsonValue array, std::string_view path) {
  if (array.type() != JsonType::array) return wrong_type(path, JsonType::array, array.type());
  std::vector<std::string> texts;
  for (JsonValue each = array.first(); each; each = each.next()) {
    if (each.type() != JsonType::string) return invalid_field(path, "must be an array of strings");
    texts.emplace_back(each.string());
  }
  return texts;
}

Result<FieldValue> read_value(FieldKind kind, JsonValue value, std::string_view path) {
  switch (kind) {
    case FieldKind::boolean:
      if (value.type() != JsonType::boolean)
        return wrong_type(path, JsonType::boolean, value.type());
      return value.boolean();
    case FieldKind::integer: {
      if (value.type() != JsonType::number) return wrong_type(path, JsonType::number, value.type());
      const std::optional<std::int64_t> number = value.integer();
      if (!number) return invalid_field(path, "must be a whole number within 64 bits");
      return *number;
    }
    case FieldKind::decimal:
      if (value.type() != JsonType::number) return wrong_type(path, JsonType::number, value.type());
      return std::string(value.raw());
    case FieldKind::amount:
      if (value.type() == JsonType::number) return std::string(value.raw());
      if (value.type() == JsonType::string) return std::string(value.string());
      return invalid_field(path, "must be a decimal like \"10000.00\"");
    case FieldKind::text:
    case FieldKind::choice:
      if (value.type() != JsonType::string) return wrong_type(path, JsonType::string, value.type());
      return std::string(value.string());
    case FieldKind::texts:
      return read_texts(value, path);
    case FieldKind::duration: {
      if (value.type() != JsonType::string) return wrong_type(path, JsonType::string, value.type());
      const Result<Millis> duration = parse_duration(value.string());
      if (!duration) return invalid_field(path, duration.error().what);
      return static_cast<std::int64_t>(duration->count());
    }
    case FieldKind::json:
    case FieldKind::record:
    case FieldKind::one_of:
      if (value.type() != JsonType::object) return wrong_type(path, JsonType::object, value.type());
      return std::string(value.raw());
  }
  return FieldValue();
}

// Members of the kind that the object names, or of the kind that it was: another kind starts from
// its defaults. Checked as a whole, since nobody behind this knows the kinds.
Result<void> read_one_of(OneOf& one, JsonValue object, const ReadRecord& how,
                         std::string_view path) {
  if (object.type() != JsonType::object) {
    return wrong_type(path, JsonType::object, object.type());
  }
  const std::string inside = std::string(path) + ".";
  const JsonValue type = object.find("type");
  const bool named = type && !type.is_null();
  if (named && type.type() != JsonType::string) {
    return wrong_type(inside + "type", JsonType::string, type.type());
  }
  const std::string name(named ? type.string() : one.kind);
  if (how.kinds.empty()) {
    one = {.kind = name, .document = std::string(object.raw())};
    return {};
  }
  const KindInfo* const kind = find_kind(how.kinds, name);
  if (kind == nullptr) return no_such_kind(inside + "type", name, how.kinds);
  const RecordInfo& info = *kind->members;
  const std::shared_ptr<void> members = info.make();
  if (name == one.kind) PENSTOCK_TRY(read_document(info, members.get(), one.document));
  static constexpr std::array<std::string_view, 1> kAlso = {"type"};
  PENSTOCK_TRY(read_record(info, members.get(), object,
                           {.unknown = how.unknown, .also = kAlso, .path = inside}));
  PENSTOCK_TRY(check_record(info, members.get(), inside));
  one = to_one_of(name, info, members.get());
  return {};
}

Result<void> read_field(const FieldInfo& field, void* record, JsonValue value,
                        const ReadRecord& how) {
  const std::string path = path_of(how, field.name);
  if (value.is_null()) {
    return field.removable ? field.set(record, FieldValue()) : Result<void>();
  }
  if (field.kind == FieldKind::record) {
    if (value.type() != JsonType::object) return wrong_type(path, JsonType::object, value.type());
    const std::string inner = path + ".";
    return read_record(
        *field.inner, field.at(record), value,
        {.unknown = how.unknown, .path = inner, .kinds = how.kinds, .whole = how.whole});
  }
  if (field.kind == FieldKind::one_of) {
    return read_one_of(*static_cast<OneOf*>(field.at(record)), value, how, path);
  }
  FieldValue read = PENSTOCK_TRY(read_value(field.kind, value, path));
  PENSTOCK_TRY(check_field(field, read, how.path));
  Result<void> set = field.set(record, std::move(read));
  if (set) return set;
  // The text had no field to name yet: "must be …" follows ": ".
  std::string& what = set.error().what;
  if (const std::size_t colon = what.find(": "); colon != std::string::npos)
    what.erase(0, colon + 2);
  return invalid_field(path, what);
}

std::string has_name(std::string_view name) {
  std::string out = "has";
  out += name;
  if (out[3] >= 'a' && out[3] <= 'z') out[3] = static_cast<char>(out[3] - 'a' + 'A');
  return out;
}

// What people are shown of a secret may come back with the rest: it changes nothing.
bool shows_secret(const RecordInfo& info, std::string_view key) {
  return std::ranges::any_of(info.fields, [&](const FieldInfo& field) {
    return field.secret && field.kind != FieldKind::texts && has_name(field.name) == key;
  });
}

Result<void> refuse_unknown(const RecordInfo& info, JsonValue object, const ReadRecord& how) {
  std::vector<std::string_view> names;
  for (const FieldInfo& field : info.fields) names.push_back(field.name);
  names.insert(names.end(), how.also.begin(), how.also.end());
  for (JsonValue member = object.first(); member; member = member.next()) {
    if (std::ranges::find(names, member.key()) != names.end()) continue;
    if (shows_secret(info, member.key())) continue;
    return invalid_field(
        path_of(how, member.key().substr(0, 100)),
        "is unknown; did you mean " + path_of(how, nearest_name(member.key(), names)) + "?");
  }
  return {};
}

std::string text_of(const RecordInfo& info, const void* record) {
  JsonWriter out;
  out.begin_object();
  write_members(out, info, record, Secrets::shown);
  out.end_object();
  return std::move(out).take();
}

std::vector<FieldValue> place_of(const RecordInfo& info, const void* record) {
  std::vector<FieldValue> place;
  for (const FieldInfo& field : info.fields) {
    if (!field.place) continue;
    place.push_back(field.kind == FieldKind::record
                        ? FieldValue(text_of(*field.inner, field.at(const_cast<void*>(record))))
                        : field.get(record));
  }
  return place;
}

void write_value(JsonWriter& out, FieldKind kind, const FieldValue& value) {
  if (std::holds_alternative<std::monostate>(value)) {
    out.null();
  } else if (const auto* truth = std::get_if<bool>(&value)) {
    out.value(*truth);
  } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
    kind == FieldKind::duration ? out.value(format_duration(Millis{*number})) : out.value(*number);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    const bool as_it_is = kind == FieldKind::decimal || kind == FieldKind::json;
    if (!as_it_is) {
      out.value(*text);
    } else {
      out.raw(text->empty() ? "{}" : *text);
    }
  } else {
    out.begin_array();
    for (const std::string& each : std::get<std::vector<std::string>>(value)) out.value(each);
    out.end_array();
  }
}

void write_counted(JsonWriter& out, const FieldInfo& field, const FieldValue& value) {
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
    out.member(field.name, static_cast<std::int64_t>(list->size()));
  } else {
    out.member(has_name(field.name), !is_empty(value));
  }
}

void write_one_of(JsonWriter& out, const OneOf& one, Secrets secrets, Kinds kinds) {
  if (secrets == Secrets::shown) {
    out.raw(one.document);
    return;
  }
  out.begin_object().member("type", one.kind);
  if (const KindInfo* const kind = find_kind(kinds, one.kind)) {
    const std::shared_ptr<void> members = kind->members->make();
    if (read_document(*kind->members, members.get(), one.document)) {
      write_members(out, *kind->members, members.get(), secrets);
    }
  }
  out.end_object();
}

std::string_view schema_type(FieldKind kind) {
  switch (kind) {
    case FieldKind::boolean:
      return "boolean";
    case FieldKind::integer:
      return "integer";
    case FieldKind::decimal:
      return "number";
    case FieldKind::texts:
      return "array";
    case FieldKind::json:
    case FieldKind::record:
    case FieldKind::one_of:
      return "object";
    case FieldKind::amount:
    case FieldKind::text:
    case FieldKind::choice:
    case FieldKind::duration:
      return "string";
  }
  return "string";
}

void write_lengths(JsonWriter& out, const FieldInfo& field) {
  if (field.max < 0) return;
  if (field.min > 0 && field.required) out.member("minLength", field.min);
  out.member("maxLength", field.max);
}

void write_properties(JsonWriter& out, const RecordInfo& info, Kinds kinds);

// Each kind with its name; what a change may leave out stays as it is.
void write_kind_schemas(JsonWriter& out, Kinds kinds) {
  out.key("anyOf").begin_array();
  for (const KindInfo& kind : kinds) {
    out.begin_object().member("title", kind.name).member("type", "object");
    out.key("properties").begin_object();
    out.key("type").begin_object().member("type", "string").member("const", kind.name).end_object();
    write_properties(out, *kind.members, kinds);
    out.end_object().end_object();
  }
  out.end_array();
}

void write_field_schema(JsonWriter& out, const FieldInfo& field, const FieldValue& fallback,
                        Kinds kinds) {
  out.begin_object();
  if (field.kind == FieldKind::record) {
    out.key("allOf").begin_array();
    write_schema(out, *field.inner, kinds);
    out.end_array();
  } else if (field.kind == FieldKind::one_of) {
    write_kind_schemas(out, kinds);
  } else {
    out.key("type");
    if (field.removable) {
      out.begin_array().value(schema_type(field.kind)).value("null").end_array();
    } else {
      out.value(schema_type(field.kind));
    }
  }
  if (field.kind == FieldKind::integer) {
    out.member("format", "int64").member("minimum", field.min).member("maximum", field.max);
  } else if (field.kind == FieldKind::duration) {
    out.member("format", "duration");
  } else if (field.kind == FieldKind::text) {
    write_lengths(out, field);
  } else if (field.kind == FieldKind::choice) {
    out.key("enum").begin_array();
    for (const std::string_view choice : field.choices) out.value(choice);
    if (field.removable) out.null();
    out.end_array();
  } else if (field.kind == FieldKind::texts) {
    out.key("items").begin_object().member("type", "string");
    write_lengths(out, field);
    out.end_object().member("maxItems", static_cast<std::int64_t>(field.count_max));
  }
  out.member("description", field.help);
  if (field.secret) out.member("writeOnly", true);
  if (!field.required && !field.secret && field.get != nullptr && !is_empty(fallback)) {
    out.key("default");
    write_value(out, field.kind, fallback);
  }
  out.end_object();
}

void write_properties(JsonWriter& out, const RecordInfo& info, Kinds kinds) {
  const void* const defaults = info.defaults == nullptr ? nullptr : info.defaults();
  for (const FieldInfo& field : info.fields) {
    out.key(field.name);
    const bool has_default = defaults != nullptr && field.get != nullptr;
    write_field_schema(out, field, has_default ? field.get(defaults) : FieldValue(), kinds);
  }
}

}  // namespace

const KindInfo* find_kind(Kinds kinds, std::string_view name) noexcept {
  const auto found = std::ranges::find(kinds, name, &KindInfo::name);
  return found == kinds.end() ? nullptr : &*found;
}

std::unexpected<Error> no_such_kind(std::string_view field, std::string_view name, Kinds kinds) {
  std::string what = "is ";
  what.append(name.substr(0, 100)).append(", and this build has ");
  for (const KindInfo& kind : kinds) {
    if (&kind != kinds.data()) what += ", ";
    what += kind.name;
  }
  return invalid_field(field, what);
}

OneOf to_one_of(std::string_view kind, const RecordInfo& info, const void* record) {
  JsonWriter out;
  out.begin_object().member("type", kind);
  write_members(out, info, record, Secrets::shown);
  out.end_object();
  return {.kind = std::string(kind), .document = std::move(out).take()};
}

Result<void> read_record(const RecordInfo& info, void* record, JsonValue object,
                         const ReadRecord& how) {
  if (object.type() != JsonType::object) {
    return fail(ErrorKind::invalid,
                "the request must be an object, not " + std::string(to_string(object.type())));
  }
  if (how.unknown == Unknown::refuse) PENSTOCK_TRY(refuse_unknown(info, object, how));
  const std::vector<FieldValue> before = place_of(info, record);
  for (const FieldInfo& field : info.fields) {
    const JsonValue value = object.find(field.name);
    if (how.whole && field.required && (!value || value.is_null())) {
      return invalid_field(path_of(how, field.name), "is required");
    }
    if (value) PENSTOCK_TRY(read_field(field, record, value, how));
  }
  if (before == place_of(info, record)) return {};
  for (const FieldInfo& field : info.fields) {
    if (field.secret && !object.find(field.name)) {
      PENSTOCK_TRY(field.set(record, FieldValue()));
    }
  }
  return {};
}

void write_members(JsonWriter& out, const RecordInfo& info, const void* record, Secrets secrets,
                   Kinds kinds) {
  for (const FieldInfo& field : info.fields) {
    if (field.kind == FieldKind::record) {
      out.key(field.name).begin_object();
      write_members(out, *field.inner, field.at(const_cast<void*>(record)), secrets, kinds);
      out.end_object();
      continue;
    }
    if (field.kind == FieldKind::one_of) {
      out.key(field.name);
      write_one_of(out, *static_cast<const OneOf*>(field.at(const_cast<void*>(record))), secrets,
                   kinds);
      continue;
    }
    const FieldValue value = field.get(record);
    if (field.sparse && is_empty(value)) continue;
    if (field.secret && secrets == Secrets::counted) {
      write_counted(out, field, value);
    } else {
      out.key(field.name);
      write_value(out, field.kind, value);
    }
  }
}

Result<void> read_document(const RecordInfo& info, void* record, std::string_view document) {
  const auto corrupt = [&](const Error& error) {
    return fail(ErrorKind::corrupt,
                "the record of a " + std::string(info.name) + " is damaged: " + error.what);
  };
  const Result<JsonDocument> parsed = parse_json(document);
  if (!parsed) return corrupt(parsed.error());
  Result<void> read = read_record(info, record, parsed->root(), {.unknown = Unknown::ignore});
  if (read) read = check_record(info, record);
  if (!read) return corrupt(read.error());
  return {};
}

void write_schema(JsonWriter& out, const RecordInfo& info, Kinds kinds) {
  out.begin_object().member("type", "object").key("properties").begin_object();
  write_properties(out, info, kinds);
  out.end_object();
  if (std::ranges::any_of(info.fields, &FieldInfo::required)) {
    out.key("required").begin_array();
    for (const FieldInfo& field : info.fields) {
      if (field.required) out.value(field.name);
    }
    out.end_array();
  }
  out.end_object();
}

}  // namespace penstock::wire
