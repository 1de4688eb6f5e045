// A real PostgreSQL. For tests and benchmarks; the working directory must be the root of the
// repository.
#pragma once

#include <string>

#include "engine/testing/server_process.h"

namespace penstock::store::postgres {

class ServerProcess : public store::ServerProcess {
 public:
  explicit ServerProcess(bool fsync) : store::ServerProcess("postgres", fsync) {}

  std::string url(const std::string& database) const { return url_to(port(), database); }
  static std::string url_to(int port, const std::string& database) {
    return "postgresql://postgres@127.0.0.1:" + std::to_string(port) + "/" + database;
  }
};

}  // namespace penstock::store::postgres
