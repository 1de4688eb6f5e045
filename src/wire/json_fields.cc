#include "wire/json_fields.h"

namespace penstock::wire {
namespace {

std::string expected(JsonType wanted, JsonType found) {
  return "must be " + std::string(to_string(wanted)) + ", not " + std::string(to_string(found));
}

}  // namespace

JsonFields::JsonFields(JsonValue value) : object_(value) {
  if (value.type() != JsonType::object) {
    error_ = Error{.kind = ErrorKind::invalid,
                   .what = "the request " + expected(JsonType::object, value.type())};
  }
}

void JsonFields::problem(std::string_view name, std::string_view what) {
  if (!error_) error_ = invalid_field(name, what).error();
}

void JsonFields::problem(Error error) {
  if (!error_) error_ = std::move(error);
}

std::optional<JsonValue> JsonFields::member(std::string_view name, JsonType type) {
  if (error_) return std::nullopt;
  const JsonValue found = object_.find(name);
  if (!found || found.is_null()) return std::nullopt;
  if (found.type() != type) {
    problem(name, expected(type, found.type()));
    return std::nullopt;
  }
  return found;
}

std::optional<JsonValue> JsonFields::required(std::string_view name, JsonType type) {
  std::optional<JsonValue> found = member(name, type);
  if (!found) problem(name, "is required");
  return found;
}

std::string_view JsonFields::required_string(std::string_view name) {
  const auto found = required(name, JsonType::string);
  return found ? found->string() : std::string_view{};
}

std::optional<std::string_view> JsonFields::optional_string(std::string_view name) {
  const auto found = member(name, JsonType::string);
  if (!found) return std::nullopt;
  return found->string();
}

std::optional<std::int64_t> JsonFields::optional_integer(std::string_view name) {
  const auto found = member(name, JsonType::number);
  if (!found) return std::nullopt;
  const auto number = found->integer();
  if (!number) problem(name, "must be a whole number within 64 bits");
  return number;
}

std::int64_t JsonFields::required_integer(std::string_view name) {
  const auto number = optional_integer(name);
  if (!number) problem(name, "is required");
  return number.value_or(0);
}

std::optional<bool> JsonFields::optional_boolean(std::string_view name) {
  const auto found = member(name, JsonType::boolean);
  if (!found) return std::nullopt;
  return found->boolean();
}

std::optional<JsonValue> JsonFields::optional_array(std::string_view name) {
  return member(name, JsonType::array);
}

std::optional<JsonValue> JsonFields::optional_object(std::string_view name) {
  return member(name, JsonType::object);
}

Instant JsonFields::read_instant(std::string_view name, std::string_view text) {
  if (error_) return {};
  const Result<Instant> instant = parse_instant(text);
  if (!instant) problem(name, instant.error().what);
  return instant.value_or(Instant{});
}

Instant JsonFields::required_instant(std::string_view name) {
  return read_instant(name, required_string(name));
}

std::optional<Instant> JsonFields::optional_instant(std::string_view name) {
  const auto text = optional_string(name);
  if (!text) return std::nullopt;
  return read_instant(name, *text);
}

std::optional<Millis> JsonFields::optional_duration(std::string_view name) {
  const auto text = optional_string(name);
  if (!text) return std::nullopt;
  const Result<Millis> duration = parse_duration(*text);
  if (!duration) problem(name, duration.error().what);
  return duration.value_or(Millis{0});
}

}  // namespace penstock::wire
