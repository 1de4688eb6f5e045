// wire/json against Boost.JSON: both accept the same texts and see the same values, but for what we
// refuse on purpose; what was accepted survives being written and parsed again; and everything that
// decodes JSON copes with whatever was accepted.
#include <boost/json/src.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "wire/batch.h"
#include "wire/json.h"
#include "wire/slots.h"

namespace {

namespace json = boost::json;
using penstock::Result;
using penstock::wire::JsonDocument;
using penstock::wire::JsonType;
using penstock::wire::JsonValue;
using penstock::wire::JsonWriter;

// Keeps a byte from being optimised away, so that ASAN sees every read.
volatile unsigned char sink;

void touch(std::string_view bytes) {
  for (const char c : bytes) sink = static_cast<unsigned char>(c);
}

// Every accessor on every value, whatever its type.
void visit(JsonValue value, std::string_view text) {
  PENSTOCK_CHECK(value.raw().data() >= text.data());
  PENSTOCK_CHECK(value.raw().data() + value.raw().size() <= text.data() + text.size());
  touch(value.raw());
  touch(value.string());
  touch(value.key());
  sink = value.boolean() ? 1 : 0;
  sink = static_cast<unsigned char>(value.integer().value_or(0));
  sink = value.find("a") ? 1 : 0;
  std::size_t children = 0;
  for (JsonValue child = value.first(); child; child = child.next(), ++children) {
    visit(child, value.raw());
    if (value.type() == JsonType::object) {
      PENSTOCK_CHECK(value.find(child.key()).raw().data() == child.raw().data());
    }
  }
  PENSTOCK_CHECK(children == value.size());
}

void check_number(JsonValue ours, const json::value& theirs) {
  const auto integer = ours.integer();
  if (theirs.is_int64()) PENSTOCK_CHECK(integer == theirs.get_int64());
  if (theirs.is_uint64()) PENSTOCK_CHECK(!integer);  // past our range
  if (theirs.is_double()) PENSTOCK_CHECK(!integer || ours.raw() == "-0");
}

void check_same(JsonValue ours, const json::value& theirs) {
  switch (ours.type()) {
    case JsonType::null:
      return PENSTOCK_CHECK(theirs.is_null());
    case JsonType::boolean:
      return PENSTOCK_CHECK(theirs.is_bool() && theirs.get_bool() == ours.boolean());
    case JsonType::number:
      PENSTOCK_CHECK(theirs.is_number());
      return check_number(ours, theirs);
    case JsonType::string:
      return PENSTOCK_CHECK(theirs.is_string() &&
                            std::string_view(theirs.get_string()) == ours.string());
    case JsonType::array: {
      PENSTOCK_CHECK(theirs.is_array() && theirs.get_array().size() == ours.size());
      JsonValue element = ours.first();
      for (const json::value& other : theirs.get_array()) {
        check_same(element, other);
        element = element.next();
      }
      return;
    }
    case JsonType::object: {
      PENSTOCK_CHECK(theirs.is_object() && theirs.get_object().size() == ours.size());
      JsonValue member = ours.first();
      for (const json::key_value_pair& other : theirs.get_object()) {
        PENSTOCK_CHECK(std::string_view(other.key()) == member.key());
        check_same(member, other.value());
        member = member.next();
      }
    }
  }
}

void write(JsonWriter& out, JsonValue value) {
  switch (value.type()) {
    case JsonType::null:
      out.null();
      return;
    case JsonType::boolean:
      out.value(value.boolean());
      return;
    case JsonType::number:
      out.raw(value.raw());
      return;
    case JsonType::string:
      out.value(value.string());
      return;
    case JsonType::array:
      out.begin_array();
      for (JsonValue child = value.first(); child; child = child.next()) write(out, child);
      out.end_array();
      return;
    case JsonType::object:
      out.begin_object();
      for (JsonValue child = value.first(); child; child = child.next()) {
        // A writer's keys need no escapes; these may, so they come escaped.
        std::string key;
        penstock::wire::append_json_string(key, child.key());
        write(out.key(std::string_view(key).substr(1, key.size() - 2)), child);
      }
      out.end_object();
  }
}

void check_equal(JsonValue a, JsonValue b) {
  PENSTOCK_CHECK(a.type() == b.type());
  PENSTOCK_CHECK(a.key() == b.key());
  PENSTOCK_CHECK(a.size() == b.size());
  PENSTOCK_CHECK(a.boolean() == b.boolean());
  PENSTOCK_CHECK(a.string() == b.string());
  if (a.type() == JsonType::number) PENSTOCK_CHECK(a.raw() == b.raw());
  JsonValue other = b.first();
  for (JsonValue child = a.first(); child; child = child.next(), other = other.next()) {
    check_equal(child, other);
  }
}

void check_round_trip(const JsonDocument& document) {
  JsonWriter out;
  write(out, document.root());
  const Result<JsonDocument> again = penstock::wire::parse_json(out.str());
  PENSTOCK_CHECK(again.has_value());
  check_equal(document.root(), again->root());
  PENSTOCK_CHECK(again->root().raw() == out.str());
}

void compare_with_boost(std::string_view text, const Result<JsonDocument>& ours) {
  json::parse_options options;
  options.max_depth = penstock::wire::kJsonDepthMax;
  json::error_code error;
  json::monotonic_resource memory;
  const json::value theirs = json::parse({text.data(), text.size()}, error, &memory, options);
  if (ours && error) {
    // Boost makes a double of it and gives up on an exponent beyond an int; we keep the text.
    PENSTOCK_CHECK(error == json::error::exponent_overflow);
  } else if (ours) {
    check_same(ours->root(), theirs);
  } else if (!error) {
    PENSTOCK_CHECK(ours.error().what.find("stands twice") != std::string::npos);
  }
}

void decode(std::string_view text) {
  using penstock::wire::BatchFormat;
  for (const BatchFormat format : {BatchFormat::json_array, BatchFormat::ndjson}) {
    const Result<void> read =
        penstock::wire::for_each_entry(text, format, [](const Result<JsonValue>& value) {
          if (!value) return;
          sink = penstock::wire::decode_slot_call(*value) ? 1 : 0;
          sink = penstock::wire::decode_slot_config(*value) ? 1 : 0;
        });
    sink = read ? 1 : 0;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<JsonDocument> document = penstock::wire::parse_json(text);
  compare_with_boost(text, document);
  if (document) {
    visit(document->root(), text);
    check_round_trip(*document);
  }
  decode(text);
  return 0;
}
