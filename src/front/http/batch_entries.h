// What the batch routes share: the entries of a body, each a call or what is wrong with it, and the
// form of an entry that failed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "wire/batch.h"
#include "wire/http/errors.h"
#include "wire/json.h"

namespace penstock::front {

// What one entry of a batch asked, or why it asks nothing.
struct BatchEntry {
  std::string id;  // as far as it could be read
  std::optional<Error> error;
};

template <class Call>
struct BatchCalls {
  std::vector<BatchEntry> entries;  // all, in order
  std::vector<Call> calls;          // of the entries without error, in order

  void add(std::string id, Result<Call>&& call) {
    BatchEntry& entry =
        entries.emplace_back(BatchEntry{.id = std::move(id), .error = std::nullopt});
    if (call) {
      calls.push_back(std::move(*call));
    } else {
      entry.error = std::move(call.error());
    }
  }
};

// `decode` makes a Result<Call> of a JSON value; `id_field` is the member that names an entry.
template <class Call, class Decode>
Result<BatchCalls<Call>> decode_entries(std::string_view body, wire::BatchFormat format,
                                        std::string_view id_field, Decode decode) {
  BatchCalls<Call> batch;
  const Result<void> read =
      wire::for_each_entry(body, format, [&](const Result<wire::JsonValue>& value) {
        if (!value) return batch.add({}, std::unexpected(value.error()));
        std::string name;
        if (value->type() == wire::JsonType::object) {
          const wire::JsonValue id = value->find(id_field);
          if (id && id.type() == wire::JsonType::string) name = id.string();
        }
        batch.add(std::move(name), decode(*value));
      });
  if (!read) return std::unexpected(read.error());
  return batch;
}

// {<id_field>, status, error, message, field?}, left open for more.
inline wire::JsonWriter& begin_failure(wire::JsonWriter& out, std::string_view id_field,
                                       std::string_view id, int status, std::string_view message) {
  return out.begin_object()
      .member(id_field, id)
      .member("status", status)
      .member("error", wire::reason_of(status))
      .member("message", message);
}

inline void encode_failure(wire::JsonWriter& out, std::string_view id_field, std::string_view id,
                           const Error& error) {
  begin_failure(out, id_field, id, wire::status_of(error.kind), error.what);
  if (!error.field.empty()) out.member("field", error.field);
  out.end_object();
}

// {results: [ … ]}: `encode` writes the answer of an entry that was asked for.
template <class Answers, class Encode>
std::string encode_results(const std::vector<BatchEntry>& entries, const Answers& answers,
                           std::string_view id_field, std::size_t bytes_each, Encode encode) {
  wire::JsonWriter out(entries.size() * bytes_each + 16);
  out.begin_object().key("results").begin_array();
  auto answer = answers.begin();
  for (const BatchEntry& entry : entries) {
    if (entry.error) {
      encode_failure(out, id_field, entry.id, *entry.error);
    } else if (const auto& given = *answer++; given) {
      encode(out, entry.id, *given);
    } else {
      encode_failure(out, id_field, entry.id, given.error());
    }
  }
  out.end_array().end_object();
  return std::move(out).take();
}

}  // namespace penstock::front
