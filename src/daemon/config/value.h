// One setting's value: how each kind of setting is written in a file, an environment variable or a
// flag, and what may stand there. Pure; safe on any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "base/time.h"
#include "wire/listen_address.h"

namespace penstock::daemon {

enum class ValueKind {
  boolean,     // true, false
  count,       // whole number
  bytes,       // 1048576, 64KiB, 16MiB, 1GiB
  duration,    // ISO-8601: PT10S, P1D
  choice,      // one word of a list
  path,        // file or folder, as given
  connection,  // where a server is, maybe with a password, which is never shown
  id,          // 1 to 128 printable characters
  listen,      // ADDR:PORT
  decimal,     // positive, kept as it is written
  header,      // the name of a header field
  blocks,      // list of addresses and networks
  rules,       // list of lists of words: what a throttle key is made of
  topics,      // list of topic=ITEM_TYPE
  hosts,       // list of names and addresses, with or without a port
  origins,     // list of scheme://host[:port]
};

// What may stand in a setting. The range is in the unit of the kind (bytes, milliseconds).
struct ValueType {
  ValueKind kind = ValueKind::path;
  std::int64_t min = 0;
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
  std::string_view choices = {};  // "auto|text|json"
};

// How the tables of settings write the types of their values.
constexpr ValueType boolean() { return {.kind = ValueKind::boolean}; }
constexpr ValueType path() { return {.kind = ValueKind::path}; }
constexpr ValueType connection() { return {.kind = ValueKind::connection}; }
constexpr ValueType id() { return {.kind = ValueKind::id}; }
constexpr ValueType choice(std::string_view choices) {
  return {.kind = ValueKind::choice, .choices = choices};
}

// Whether a file may write it as a list.
constexpr bool is_list(ValueKind kind) noexcept {
  return kind >= ValueKind::blocks;  // the lists stand last
}

// monostate = not set; std::string for choice, path, connection, id and the kinds after listen.
using Value =
    std::variant<std::monostate, bool, std::int64_t, Millis, std::string, wire::ListenAddress>;

inline const std::string& text(const Value& value) { return std::get<std::string>(value); }

// The error's `what` is a predicate: "must be …, not …".
Result<Value> parse_value(const ValueType& type, std::string_view text);

// As one would write it in the file: `16KiB`, `PT10S`; empty when not set. Passwords as `***`.
std::string format_value(const ValueType& type, const Value& value);

// A URI or keyword string with `***` for every password in it.
std::string without_password(std::string_view connection);

// What may stand there, in words: "ISO-8601 duration from PT0.1S to PT1H".
std::string describe(const ValueType& type);
std::string describe_briefly(const ValueType& type);  // "duration from PT0.1S to PT1H"

}  // namespace penstock::daemon
