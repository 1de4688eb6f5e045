// What PostgreSQL says is wrong, translated once. Pure.
#pragma once

#include <string_view>

#include "engine/sql/errors.h"

namespace penstock::store::postgres {

// `message` as the server wrote it.
DatabaseError translate(std::string_view sqlstate, std::string_view message);

// The connection broke. `sent`: a request may have been executed, so the outcome is unknown.
inline DatabaseError connection_lost(std::string_view message, bool sent) {
  return store::connection_lost("postgres", message, sent);
}

// The server rolled the call back for a reason that passes by itself: the same call may be sent
// again at once (serialization failure, deadlock, the same event inserted elsewhere meanwhile).
bool worth_repeating(const DatabaseError& error) noexcept;

inline constexpr std::string_view kUniqueViolation = "23505";

}  // namespace penstock::store::postgres
