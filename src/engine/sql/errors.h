// What an SQL engine says is wrong, and what is wrong with the connection to it. Pure.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace penstock::store {

// An error with the code it came with: SQLSTATE or the server's number; empty when the server did
// not speak.
struct DatabaseError {
  Error error;
  std::string code = {};

  // NOLINTBEGIN(google-explicit-constructor): whoever does not care for the code passes on the rest
  operator Error() const& { return error; }
  operator Error() && { return std::move(error); }
  // NOLINTEND(google-explicit-constructor)
};

template <class T>
using DatabaseResult = std::expected<T, DatabaseError>;

// How often a call is tried that the engine takes back for a reason that passes by itself (a
// deadlock, the same row inserted elsewhere meanwhile): each time somebody else made progress, so a
// few times are plenty.
inline constexpr int kAttempts = 8;

// `message` as the server wrote it: on one line, without its end.
inline std::string one_line(std::string_view message) {
  while (message.ends_with('\n') || message.ends_with(' ')) message.remove_suffix(1);
  std::string text(message);
  for (char& c : text) c = c == '\n' ? ' ' : c;
  return text;
}

// The connection broke. `sent`: a request may have been executed, so the outcome is unknown.
inline DatabaseError connection_lost(std::string_view engine, std::string_view message, bool sent) {
  return {.error = {.kind = ErrorKind::unavailable,
                    .what = std::string(engine) +
                            (sent ? " connection lost, the outcome is unknown: "
                                  : " cannot be reached: ") +
                            one_line(message)}};
}

inline DatabaseError no_answer_in_time(std::string_view engine) {
  return {
      .error = {.kind = ErrorKind::timeout,
                .what = std::string(engine) + " did not answer in time, the outcome is unknown"}};
}

// What the server refused. `passing`: an operator or time can mend it, not the caller.
inline DatabaseError refused(std::string_view engine, ErrorKind kind, std::string_view message,
                             std::string code, bool passing) {
  std::string what =
      std::string(engine) + (passing ? ": " : " refused the statement: ") + one_line(message);
  if (!code.empty()) what += " (" + code + ")";
  return {.error = {.kind = kind, .what = std::move(what)}, .code = std::move(code)};
}

}  // namespace penstock::store
