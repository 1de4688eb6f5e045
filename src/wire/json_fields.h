// Reads the members of one JSON object into typed values. The first problem sticks, names its
// field, and makes every later read harmless, so a decoder reads all it wants and checks once at
// the end. Strict types: "5" is no number, 1.5 is no count. An optional member may be null (=
// absent).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/iso8601.h"
#include "base/result.h"
#include "base/time.h"
#include "wire/json.h"

namespace penstock::wire {

class JsonFields {
 public:
  // `value` may be of any type: a value that is no object is the first problem.
  explicit JsonFields(JsonValue value);

  std::string_view required_string(std::string_view name);
  std::optional<std::string_view> optional_string(std::string_view name);
  std::int64_t required_integer(std::string_view name);
  std::optional<std::int64_t> optional_integer(std::string_view name);
  std::optional<bool> optional_boolean(std::string_view name);
  std::optional<JsonValue> optional_array(std::string_view name);
  std::optional<JsonValue> optional_object(std::string_view name);
  Instant required_instant(std::string_view name);
  std::optional<Instant> optional_instant(std::string_view name);
  std::optional<Millis> optional_duration(std::string_view name);

  template <class IdType>
  IdType required_id(std::string_view name) {
    return parse_id<IdType>(name, required_string(name));
  }

  // The empty id when absent.
  template <class IdType>
  IdType optional_id(std::string_view name) {
    const std::optional<std::string_view> text = optional_string(name);
    return text ? parse_id<IdType>(name, *text) : IdType{};
  }

  // Records a problem of the caller's own finding.
  void problem(std::string_view name, std::string_view what);
  void problem(Error error);

  const std::optional<Error>& error() const noexcept { return error_; }

 private:
  // The member, or nothing when absent or null; a wrong type is a problem.
  std::optional<JsonValue> member(std::string_view name, JsonType type);
  std::optional<JsonValue> required(std::string_view name, JsonType type);
  Instant read_instant(std::string_view name, std::string_view text);

  template <class IdType>
  IdType parse_id(std::string_view name, std::string_view text) {
    if (error_) return {};
    Result<IdType> id = IdType::parse(name, text);
    if (!id) error_ = std::move(id.error());
    return id ? std::move(*id) : IdType{};
  }

  JsonValue object_;
  std::optional<Error> error_;
};

}  // namespace penstock::wire
