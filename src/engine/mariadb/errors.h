// What MariaDB says is wrong, translated once. Pure.
#pragma once

#include <expected>
#include <string_view>

#include "base/result.h"

namespace penstock::store::mariadb {

// An error with the server's number; 0 when the server did not speak.
struct DatabaseError {
  Error error;
  unsigned number = 0;
};

template <class T>
using DatabaseResult = std::expected<T, DatabaseError>;

// `message` as the server wrote it.
DatabaseError translate(unsigned number, std::string_view message);

// The connection broke. `sent`: a request may have been executed, so the outcome is unknown.
DatabaseError connection_lost(std::string_view message, bool sent);

// The server rolled the call back for a reason that passes by itself: the same call may be sent
// again at once.
bool worth_repeating(const DatabaseError& error) noexcept;

inline constexpr unsigned kNoSuchTable = 1146;

}  // namespace penstock::store::mariadb
