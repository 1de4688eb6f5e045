#include "engine/mariadb/connection.h"

#include <algorithm>
#include <array>
#include <string>

namespace penstock::store::mariadb {
namespace {

constexpr unsigned kDuplicate = 1062;
constexpr unsigned kLockWaitTimeout = 1205;
constexpr unsigned kDeadlock = 1213;
constexpr unsigned kStatementTimeout = 1969;                          // max_statement_time
constexpr unsigned kMySqlStatementTimeout = 3024;                     // the same of MySQL
constexpr std::array<unsigned, 4> kDamaged = {126, 127, 1034, 1712};  // of a table or an index

// Errors that an operator or time can mend: too many connections, memory or disk full, shutting
// down, read-only, killed, and the locks above.
constexpr std::array<unsigned, 11> kPassing = {
    1021, 1040, 1041, 1053, 1114, 1203, 1290, 1317, 1927, kLockWaitTimeout, kDeadlock};

template <std::size_t N>
bool holds(const std::array<unsigned, N>& numbers, unsigned number) {
  return std::ranges::find(numbers, number) != numbers.end();
}

ErrorKind kind_of(unsigned number) {
  if (number == kStatementTimeout || number == kMySqlStatementTimeout ||
      number == kLockWaitTimeout) {
    return ErrorKind::timeout;
  }
  if (number == kDuplicate) return ErrorKind::conflict;
  return holds(kDamaged, number) ? ErrorKind::corrupt : ErrorKind::unavailable;
}

}  // namespace

DatabaseError translate(unsigned number, std::string_view message) {
  return refused("mariadb", kind_of(number), message, std::to_string(number),
                 /*passing=*/holds(kPassing, number));
}

bool worth_repeating(const DatabaseError& error) noexcept {
  return error.code == std::to_string(kDeadlock) || error.code == std::to_string(kLockWaitTimeout);
}

}  // namespace penstock::store::mariadb
