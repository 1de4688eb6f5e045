// What MariaDB says is wrong, translated once. Pure.
#pragma once

#include <string_view>

#include "engine/sql/errors.h"

namespace penstock::store::mariadb {

// `message` as the server wrote it.
DatabaseError translate(unsigned number, std::string_view message);

// The connection broke. `sent`: a request may have been executed, so the outcome is unknown.
inline DatabaseError connection_lost(std::string_view message, bool sent) {
  return store::connection_lost("mariadb", message, sent);
}

// The server rolled the call back for a reason that passes by itself: the same call may be sent
// again at once.
bool worth_repeating(const DatabaseError& error) noexcept;

inline constexpr std::string_view kNoSuchTable = "1146";

}  // namespace penstock::store::mariadb
