// What PostgreSQL says is wrong, translated once. Pure.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "base/result.h"

namespace penstock::store::postgres {

// An error with the five-character code it came with; empty when the server did not speak.
struct DatabaseError {
  Error error;
  std::string sqlstate = {};
};

template <class T>
using DatabaseResult = std::expected<T, DatabaseError>;

// `message` as the server wrote it.
DatabaseError translate(std::string_view sqlstate, std::string_view message);

// The connection broke. `sent`: a request may have been executed, so the outcome is unknown.
DatabaseError connection_lost(std::string_view message, bool sent);

// The server rolled the call back for a reason that passes by itself: the same call may be sent
// again at once (serialization failure, deadlock, the same event inserted elsewhere meanwhile).
bool worth_repeating(const DatabaseError& error) noexcept;
// How often such a call is tried: each time somebody else made progress, so a few times are plenty.
inline constexpr int kAttempts = 8;

inline constexpr std::string_view kUniqueViolation = "23505";

}  // namespace penstock::store::postgres
