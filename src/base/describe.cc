#include "base/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/iso8601.h"

namespace penstock {
namespace {

std::string name_at(std::string_view path, std::string_view name) {
  return std::string(path).append(name);
}

std::string words(std::span<const std::string_view> choices) {
  std::string out;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i > 0) out += i + 1 == choices.size() ? " or " : ", ";
    out += choices[i];
  }
  return out;
}

std::string text_problem(const FieldInfo& field, const std::string& text) {
  const auto size = static_cast<std::int64_t>(text.size());
  if (field.max < 0 || (size >= field.min && size <= field.max)) return {};
  return fmt::format("must be a text of {} to {} characters", field.min, field.max);
}

std::string problem_of(const FieldInfo& field, const FieldValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    if (*number < field.min || *number > field.max) {
      if (field.kind != FieldKind::duration) {
        return fmt::format("must be from {} to {}", field.min, field.max);
      }
      return fmt::format("must be from {} to {}", format_duration(Millis{field.min}),
                         format_duration(Millis{field.max}));
    }
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    if (field.kind == FieldKind::choice &&
        std::ranges::find(field.choices, *text) == field.choices.end()) {
      return "must be " + words(field.choices);
    }
    // An empty text that is not required was not given.
    if (!text->empty() || field.required) {
      if (std::string problem = text_problem(field, *text); !problem.empty()) return problem;
    }
  } else if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
    if (list->size() > field.count_max) return fmt::format("must be at most {}", field.count_max);
    for (const std::string& each : *list) {
      if (const std::string problem = text_problem(field, each); !problem.empty()) {
        return fmt::format("must be texts of {} to {} characters", field.min, field.max);
      }
    }
  }
  if (field.problem != nullptr && !is_empty(value)) return field.problem(value);
  return {};
}

const OneOf& one_at(const FieldInfo& field, const void* record) {
  return *static_cast<const OneOf*>(field.at(const_cast<void*>(record)));
}

}  // namespace

bool is_empty(const FieldValue& value) noexcept {
  if (const auto* text = std::get_if<std::string>(&value)) return text->empty();
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) return list->empty();
  return std::holds_alternative<std::monostate>(value);
}

Result<void> check_field(const FieldInfo& field, const FieldValue& value, std::string_view path) {
  if (is_empty(value)) {
    if (!field.required) return {};
    return invalid_field(name_at(path, field.name), "is required");
  }
  const std::string problem = problem_of(field, value);
  if (problem.empty()) return {};
  return invalid_field(name_at(path, field.name), problem);
}

Result<void> check_record(const RecordInfo& info, const void* record, std::string_view path) {
  for (const FieldInfo& field : info.fields) {
    if (field.kind == FieldKind::record) {
      // The table serves readers and writers alike; this one only reads.
      const void* const inner = field.at(const_cast<void*>(record));
      PENSTOCK_TRY(check_record(*field.inner, inner, name_at(path, field.name) + "."));
    } else if (field.kind != FieldKind::one_of) {
      PENSTOCK_TRY(check_field(field, field.get(record), path));
    }
  }
  if (info.rule == nullptr) return {};
  Result<void> kept = info.rule(record);
  if (!kept && !kept.error().field.empty()) {
    kept.error().field.insert(0, path);
    kept.error().what.insert(0, path);
  }
  return kept;
}

std::vector<std::string> differences(const RecordInfo& info, const void* before, const void* after,
                                     std::string_view path) {
  std::vector<std::string> names;
  for (const FieldInfo& field : info.fields) {
    if (field.kind == FieldKind::record) {
      for (std::string& name :
           differences(*field.inner, field.at(const_cast<void*>(before)),
                       field.at(const_cast<void*>(after)), name_at(path, field.name) + ".")) {
        names.push_back(std::move(name));
      }
    } else if (field.kind == FieldKind::one_of ? one_at(field, before) != one_at(field, after)
                                               : field.get(before) != field.get(after)) {
      names.push_back(name_at(path, field.name));
    }
  }
  return names;
}

}  // namespace penstock
