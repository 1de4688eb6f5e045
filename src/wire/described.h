// JSON of described records (base/describe.h): in, out, and its schema. Total functions; errors
// name the field with its path ("sink.url").
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/describe.h"
#include "base/result.h"
#include "wire/json.h"

namespace penstock::wire {

// What a reader does about members that the record does not have.
enum class Unknown : std::uint8_t {
  refuse,  // names the nearest known one: a slip must not pass as a default
  ignore,  // the caller may be newer than we are
};

struct ReadRecord {
  Unknown unknown = Unknown::refuse;
  // Members of the object that are not of the record: read elsewhere, or shown and never set.
  std::span<const std::string_view> also = {};
  std::string_view path = {};  // of the object in the request, "sink."
  Kinds kinds = {};            // of its OneOf fields; none = their members are taken unread
  // Create and replace: a required member must be there. A merge may leave it as it is.
  bool whole = false;
};

// Sets what `object` has; all else stays as it is. So a record with its defaults is created or
// replaced, one in force is merged (RFC 7396). Null takes a removable field away and is absent for
// any other. Each value is checked, the whole is not: call check_record when all is read.
// A secret that is not sent goes when a field that says where it goes (`place`) changes: whoever
// may change a URL could otherwise have a secret sent to a host of his own.
Result<void> read_record(const RecordInfo& info, void* record, JsonValue object,
                         const ReadRecord& how = {});

// The same, and the whole is checked.
template <Described T>
Result<void> read_record(T& record, JsonValue object, const ReadRecord& how = {}) {
  PENSTOCK_TRY(read_record(describe<T>(), &record, object, how));
  return check_record(describe<T>(), &record, how.path);
}

enum class Secrets : std::uint8_t {
  counted,  // for people: a list as its number, a text `x` as `hasX`
  shown,    // for the store: read_record reads them back
};

// The members alone, so that others can stand beside them. Of a OneOf of a kind that is not among
// `kinds`, people are shown the kind alone: nobody here knows which of its members are secret.
void write_members(JsonWriter& out, const RecordInfo& info, const void* record, Secrets secrets,
                   Kinds kinds = {});
template <Described T>
void write_members(JsonWriter& out, const T& record, Secrets secrets, Kinds kinds = {}) {
  write_members(out, describe<T>(), &record, secrets, kinds);
}

OneOf to_one_of(std::string_view kind, const RecordInfo& info, const void* record);
template <Described T>
OneOf to_one_of(std::string_view kind, const T& record) {
  return to_one_of(kind, describe<T>(), &record);
}
// Null when there is no such kind.
const KindInfo* find_kind(Kinds kinds, std::string_view name) noexcept;
// "is fax, and this build has log, http"
std::unexpected<Error> no_such_kind(std::string_view field, std::string_view name, Kinds kinds);

// The document in which a store keeps a record.
template <Described T>
std::string to_document(const T& record) {
  JsonWriter out;
  out.begin_object();
  write_members(out, record, Secrets::shown);
  out.end_object();
  return std::move(out).take();
}
// `corrupt` when it is none. Members that this version does not know are dropped.
Result<void> read_document(const RecordInfo& info, void* record, std::string_view document);
template <Described T>
Result<T> from_document(std::string_view document) {
  T record;
  PENSTOCK_TRY(read_document(describe<T>(), &record, document));
  return record;
}

// A JSON schema (OpenAPI 3.1) of what the API takes: {type, properties, required, …}.
void write_schema(JsonWriter& out, const RecordInfo& info, Kinds kinds = {});

}  // namespace penstock::wire
