#include "engine/postgres/connection.h"

#include <algorithm>
#include <array>

namespace penstock::store::postgres {
namespace {

constexpr std::string_view kSerializationFailure = "40001";
constexpr std::string_view kDeadlock = "40P01";
constexpr std::string_view kLockNotAvailable = "55P03";  // lock_timeout
constexpr std::string_view kQueryCanceled = "57014";     // statement_timeout

// Classes that an operator or time can mend, not the caller: connection, resources, operator
// intervention, system error, wrong state of the server, transaction rolled back, read-only.
constexpr std::array<std::string_view, 7> kUnavailableClasses = {"08", "53", "57", "58",
                                                                 "55", "40", "25"};

ErrorKind kind_of(std::string_view sqlstate) {
  if (sqlstate == kQueryCanceled || sqlstate == kLockNotAvailable) return ErrorKind::timeout;
  if (sqlstate == kUniqueViolation) return ErrorKind::conflict;
  if (sqlstate.starts_with("XX")) return ErrorKind::corrupt;  // internal error, damaged page
  // The rest is a schema or role that does not fit this program: nothing a caller could mend.
  return ErrorKind::unavailable;
}

}  // namespace

DatabaseError translate(std::string_view sqlstate, std::string_view message) {
  const bool passing = std::ranges::any_of(
      kUnavailableClasses, [&](std::string_view prefix) { return sqlstate.starts_with(prefix); });
  return refused("postgres", kind_of(sqlstate), message, std::string(sqlstate), passing);
}

bool worth_repeating(const DatabaseError& error) noexcept {
  return error.code == kSerializationFailure || error.code == kDeadlock ||
         error.code == kUniqueViolation;
}

}  // namespace penstock::store::postgres
