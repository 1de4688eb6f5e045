// The MariaDB backend (MySQL too): usage of throttle keys, policies and which nodes are alive, for
// any number of nodes on one database. Owns all that it hands out; the ports are safe on any thread
// while it lives.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "engine/mariadb/schema.h"
#include "store/backend.h"

namespace penstock::store::mariadb {

struct MariadbOptions {
  std::string url;              // mysql://user:password@host:port/database; see address.h
  std::string password = {};    // empty = from the URL
  std::size_t connections = 4;  // batches in flight; as many again for policies and upkeep
  Millis deadline{50};          // of every call of LimitStore, waiting for a connection included
  Millis upkeep_deadline = Seconds{2};  // of every other call
};

// Whether `url` can be understood, without connecting; else why not.
Result<void> check_url(const std::string& url);

// What a migration needs to know; the URL must be good.
ConnectOptions connect_options(const MariadbOptions& options);

class MariadbStore {
 public:
  // Refuses with `conflict` when the tables have another version; the sentence says what to run. A
  // server that cannot be reached is no reason to refuse: health says so, and the tables are
  // checked when it is back. `log` may be null, else it must outlive the store.
  static Result<std::unique_ptr<MariadbStore>> open(const MariadbOptions& options, Log* log);
  MariadbStore(const MariadbStore&) = delete;
  MariadbStore& operator=(const MariadbStore&) = delete;
  ~MariadbStore();

  // The ports live as long as this object.
  Backend backend() noexcept;

 private:
  struct Parts;
  explicit MariadbStore(std::unique_ptr<Parts> parts) noexcept;
  std::unique_ptr<Parts> parts_;
};

}  // namespace penstock::store::mariadb
