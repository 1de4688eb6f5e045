// A record that people set or see is described once: a table of its fields, beside the struct.
// JSON, checks, differences, schemas, flags and the stored document are loops over that table.
//
//   struct Pace {
//     std::optional<std::int64_t> per_second;
//     Millis backoff{5'000};
//     std::string url;
//   };
//   template <>
//   struct Description<Pace> {
//     static constexpr std::string_view name = "Pace";
//     static constexpr std::array fields = {
//         range(field<&Pace::per_second>("maxPerSecond", "Sends in any sliding second."), 1,
//         1'000), range(field<&Pace::backoff>("backoffMs", "Wait after the first failure."), 0,
//         60'000), required(range(field<&Pace::url>("url", "Where to POST."), 1, 2'000))};
//     static Result<void> rule(const Pace& pace);  // optional: what one field cannot say
//   };
//
// A member without a description does not compile, nor does a number without a range. Types are
// erased by function pointers: a template that walks the fields crashes GCC 12 and compiles slowly.
#pragma once

#include <array>
#include <boost/pfr/tuple_size.hpp>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace penstock {

// What a field holds, whatever its C++ type. monostate = absent.
using FieldValue =
    std::variant<std::monostate, bool, std::int64_t, std::string, std::vector<std::string>>;

enum class FieldKind : std::uint8_t {
  boolean,
  integer,
  decimal,  // a number with the digits that were written, as text
  amount,   // a decimal written as a text; a number is taken too
  text,
  choice,    // a text out of `choices`
  texts,     // a list
  duration,  // milliseconds, written as ISO-8601
  json,      // any JSON, as text
  record,    // a described record; see `inner`
  one_of,    // a record of one of several kinds; see OneOf
};

struct RecordInfo;

// A record of one of several kinds: {"type": "http", "url": …}. Whoever has the list of kinds reads
// and checks its members; to everybody else they are a text, so that a node or an engine can keep a
// kind that it does not know.
struct OneOf {
  std::string kind;
  std::string document;  // the whole object as the store keeps it: type first, secrets shown

  friend bool operator==(const OneOf&, const OneOf&) = default;
};

struct KindInfo {
  std::string_view name;
  const RecordInfo* members = nullptr;
};
using Kinds = std::span<const KindInfo>;

struct FieldInfo {
  std::string_view name;  // as in JSON
  std::string_view help;  // one sentence
  FieldKind kind{};
  // Of an integer or a duration, its value; of a text, its bytes; of texts, the bytes of each.
  std::int64_t min = 0;
  std::int64_t max = -1;      // -1 = no range was given
  std::size_t count_max = 0;  // of texts: how many there may be
  std::span<const std::string_view> choices = {};
  bool required = false;
  bool removable = false;  // null takes it away
  bool secret = false;     // people are shown how many there are
  bool place = false;      // says where secrets go: a change of it drops those that are not sent
  bool sparse = false;     // left out of the JSON while it is not given
  std::string (*problem)(const FieldValue& value) = nullptr;  // empty = none
  FieldValue (*get)(const void* record) = nullptr;
  Result<void> (*set)(void* record, FieldValue value) = nullptr;  // the error has no field yet
  // Of a record in a record, and of a OneOf.
  const RecordInfo* inner = nullptr;  // of a record
  void* (*at)(void* record) = nullptr;
};

struct RecordInfo {
  std::string_view name;
  std::span<const FieldInfo> fields;
  Result<void> (*rule)(const void* record) = nullptr;
  const void* (*defaults)() = nullptr;  // a record as it is made
  std::shared_ptr<void> (*make)() = nullptr;
};

// Specialized beside each record.
template <class T>
struct Description;

template <class T>
concept Described = requires { Description<T>::fields; };

// The names of an enumeration whose values count from 0, in their order. Specialized beside it.
template <class T>
struct Choices;

template <class T>
constexpr std::string_view choice_name(T value) noexcept {
  return Choices<T>::names[static_cast<std::size_t>(value)];
}
template <class T>
constexpr std::optional<T> choice_of(std::string_view name) noexcept {
  for (std::size_t i = 0; i < Choices<T>::names.size(); ++i) {
    if (Choices<T>::names[i] == name) return static_cast<T>(i);
  }
  return std::nullopt;
}

// How a C++ type shows as a FieldValue. Another type is one more specialization, which may have a
// `problem` as FieldInfo has.
template <class T>
struct FieldAs;

template <>
struct FieldAs<bool> {
  static constexpr FieldKind kind = FieldKind::boolean;
  static FieldValue out(bool value) { return value; }
  static Result<void> in(bool& to, FieldValue&& value) {
    to = std::get<bool>(value);
    return {};
  }
};

template <std::integral T>
struct FieldAs<T> {
  static constexpr FieldKind kind = FieldKind::integer;
  static FieldValue out(T value) { return static_cast<std::int64_t>(value); }
  static Result<void> in(T& to, FieldValue&& value) {
    to = static_cast<T>(std::get<std::int64_t>(value));
    return {};
  }
};

// A number of the unit that its name says: "retryBackoffMs", "maxPauseSecs".
template <class Rep, class Period>
struct FieldAs<std::chrono::duration<Rep, Period>> {
  using Duration = std::chrono::duration<Rep, Period>;
  static constexpr FieldKind kind = FieldKind::integer;
  static FieldValue out(Duration value) { return static_cast<std::int64_t>(value.count()); }
  static Result<void> in(Duration& to, FieldValue&& value) {
    to = Duration{static_cast<Rep>(std::get<std::int64_t>(value))};
    return {};
  }
};

template <>
struct FieldAs<std::string> {
  static constexpr FieldKind kind = FieldKind::text;
  static FieldValue out(const std::string& value) { return value; }
  static Result<void> in(std::string& to, FieldValue&& value) {
    to = std::get<std::string>(std::move(value));
    return {};
  }
};

template <>
struct FieldAs<std::vector<std::string>> {
  static constexpr FieldKind kind = FieldKind::texts;
  static FieldValue out(const std::vector<std::string>& value) { return value; }
  static Result<void> in(std::vector<std::string>& to, FieldValue&& value) {
    to = std::get<std::vector<std::string>>(std::move(value));
    return {};
  }
};

template <class T>
  requires std::is_enum_v<T>
struct FieldAs<T> {
  static constexpr FieldKind kind = FieldKind::choice;
  static FieldValue out(T value) { return std::string(choice_name(value)); }
  static Result<void> in(T& to, FieldValue&& value) {
    to = choice_of<T>(std::get<std::string>(value)).value_or(to);
    return {};
  }
};

// Ids, and other types with parse(field, text) and str().
template <class T>
  requires requires(const T& value, std::string_view text) {
    { T::parse(text, text) } -> std::same_as<Result<T>>;
    { value.str() } -> std::convertible_to<std::string_view>;
  }
struct FieldAs<T> {
  static constexpr FieldKind kind = FieldKind::text;
  static FieldValue out(const T& value) {
    return value.empty() ? FieldValue() : FieldValue(std::string(value.str()));
  }
  static Result<void> in(T& to, FieldValue&& value) {
    Result<T> parsed = T::parse("", std::get<std::string>(value));
    if (!parsed) return std::unexpected(std::move(parsed.error()));
    to = std::move(*parsed);
    return {};
  }
  static std::string problem(const FieldValue& value) {
    const Result<T> parsed = T::parse("", std::get<std::string>(value));
    return parsed ? std::string() : parsed.error().what.substr(2);  // behind ": "
  }
};

template <class T>
struct FieldAs<std::optional<T>> {
  static constexpr FieldKind kind = FieldAs<T>::kind;
  static FieldValue out(const std::optional<T>& value) {
    return value ? FieldAs<T>::out(*value) : FieldValue();
  }
  static Result<void> in(std::optional<T>& to, FieldValue&& value) {
    return FieldAs<T>::in(to.emplace(), std::move(value));
  }
};

template <class T>
constexpr const RecordInfo& describe();

namespace described {

template <class>
struct MemberOf;
template <class O, class M>
struct MemberOf<M O::*> {
  using Owner = O;
  using Member = M;
};

template <class T>
struct Bare {
  using Type = T;
};
template <class T>
struct Bare<std::optional<T>> {
  using Type = T;
};

// The member of a record; of a member of it when there are more.
template <auto member, auto... inner, class O>
constexpr auto& member_of(O& record) noexcept {
  if constexpr (sizeof...(inner) == 0) {
    return record.*member;
  } else {
    return member_of<inner...>(record.*member);
  }
}

// How many fields describe all of a record: one for each member, unless its description counts.
template <class T>
consteval std::size_t field_count() {
  if constexpr (requires { Description<T>::count; }) {
    return Description<T>::count;
  } else {
    return boost::pfr::tuple_size_v<T>;
  }
}

template <class T>
Result<void> rule_of(const void* record) {
  return Description<T>::rule(*static_cast<const T*>(record));
}

template <class T>
const void* defaults_of() {
  static const T record{};
  return &record;
}

template <class T>
std::shared_ptr<void> make_record() {
  return std::make_shared<T>();
}

consteval bool has_ranges(std::span<const FieldInfo> fields) {
  for (const FieldInfo& field : fields) {
    const bool number = field.kind == FieldKind::integer || field.kind == FieldKind::duration;
    if (number && field.max < field.min) return false;
  }
  return true;
}

template <class T>
consteval RecordInfo record_info() {
  static_assert(Description<T>::fields.size() == field_count<T>(),
                "describe every member of the record");
  static_assert(has_ranges(Description<T>::fields), "give every number a range");
  RecordInfo info{.name = Description<T>::name,
                  .fields = Description<T>::fields,
                  .rule = nullptr,
                  .defaults = defaults_of<T>,
                  .make = make_record<T>};
  if constexpr (requires(const T& record) { Description<T>::rule(record); }) {
    info.rule = rule_of<T>;
  }
  return info;
}

template <class T>
inline constexpr RecordInfo kRecord = record_info<T>();

}  // namespace described

template <class T>
constexpr const RecordInfo& describe() {
  return described::kRecord<T>;
}

// The field of a member. field<&Policy::limit, &Limit::capacity> stands in the JSON of a policy
// itself; a description with such fields has a `count`, the sum of the members.
template <auto member, auto... inner>
consteval FieldInfo field(std::string_view name, std::string_view help) {
  using Owner = typename described::MemberOf<decltype(member)>::Owner;
  using Member = std::remove_reference_t<decltype(described::member_of<member, inner...>(
      std::declval<Owner&>()))>;
  using Bare = typename described::Bare<Member>::Type;
  FieldInfo info;
  info.name = name;
  info.help = help;
  if constexpr (Described<Member> || std::is_same_v<Member, OneOf>) {
    info.at = [](void* record) -> void* {
      return &described::member_of<member, inner...>(*static_cast<Owner*>(record));
    };
    info.kind = FieldKind::one_of;
  }
  if constexpr (Described<Member>) {
    info.kind = FieldKind::record;
    info.inner = &describe<Member>();
  } else if constexpr (!std::is_same_v<Member, OneOf>) {
    info.kind = FieldAs<Member>::kind;
    if constexpr (requires { Choices<Bare>::names; }) info.choices = Choices<Bare>::names;
    if constexpr (requires { &FieldAs<Bare>::problem; }) info.problem = &FieldAs<Bare>::problem;
    info.removable = !std::is_same_v<Bare, Member>;
    info.get = [](const void* record) -> FieldValue {
      return FieldAs<Member>::out(
          described::member_of<member, inner...>(*static_cast<const Owner*>(record)));
    };
    info.set = [](void* record, FieldValue value) -> Result<void> {
      Member& to = described::member_of<member, inner...>(*static_cast<Owner*>(record));
      if (std::holds_alternative<std::monostate>(value)) {
        to = Member{};
        return {};
      }
      return FieldAs<Member>::in(to, std::move(value));
    };
  }
  return info;
}

consteval FieldInfo range(FieldInfo info, std::int64_t min, std::int64_t max) {
  info.min = min;
  info.max = max;
  return info;
}
// Of a list: how many, and the bytes of each.
consteval FieldInfo each(FieldInfo info, std::size_t count_max, std::int64_t min,
                         std::int64_t max) {
  info.count_max = count_max;
  return range(info, min, max);
}
consteval FieldInfo required(FieldInfo info) {
  info.required = true;
  return info;
}
consteval FieldInfo removable(FieldInfo info) {
  info.removable = true;
  return info;
}
// Null takes a secret away.
consteval FieldInfo secret(FieldInfo info) {
  info.secret = true;
  return removable(info);
}
consteval FieldInfo place(FieldInfo info) {
  info.place = true;
  return info;
}
consteval FieldInfo as(FieldInfo info, FieldKind kind) {
  info.kind = kind;
  return info;
}
consteval FieldInfo sparse(FieldInfo info) {
  info.sparse = true;
  return info;
}
// Sets more than the member that it is read from.
consteval FieldInfo set_by(FieldInfo info, Result<void> (*set)(void* record, FieldValue value)) {
  info.set = set;
  return info;
}
consteval FieldInfo checked(FieldInfo info, std::string (*problem)(const FieldValue& value)) {
  info.problem = problem;
  return info;
}

// Whether a value may stand in a field. The error names `path` + the field's name.
Result<void> check_field(const FieldInfo& field, const FieldValue& value,
                         std::string_view path = {});

// All fields and rules of a record, and of the records in it.
Result<void> check_record(const RecordInfo& info, const void* record, std::string_view path = {});
template <Described T>
Result<void> check_record(const T& record) {
  return check_record(describe<T>(), &record);
}

// The names of the fields in which two records differ, "sink.url" of a record in a record.
std::vector<std::string> differences(const RecordInfo& info, const void* before, const void* after,
                                     std::string_view path = {});
template <Described T>
std::vector<std::string> differences(const T& before, const T& after) {
  return differences(describe<T>(), &before, &after);
}

// Whether a value counts as not given: absent, or empty text or list.
bool is_empty(const FieldValue& value) noexcept;

}  // namespace penstock
