// Where a MariaDB or MySQL server is and how to talk to it, read from a URL:
// `mysql://user:password@host:port/database?sslmode=verify-full&sslrootcert=/path`. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace penstock::store::mariadb {

enum class TlsMode {
  disable,
  require,      // encrypted, whoever answers
  verify_full,  // and the certificate must be good for the host
};

struct Address {
  std::string user;
  std::string password;
  std::string host;
  std::uint16_t port = 3306;
  std::string database;
  TlsMode tls = TlsMode::disable;
  std::string root_certificate_file;  // empty = the system's
  std::string certificate_file;       // of this client; empty = none
  std::string key_file;
};

// `invalid` with a sentence that quotes nothing of a password.
Result<Address> parse_address(std::string_view url);

}  // namespace penstock::store::mariadb
