// The PostgreSQL backend: slots, their configs, news of changes and retention; throttle usage and
// policies, and which nodes are alive; the queue of dispatch with its leases, types and news; for
// any number of nodes on one database. Owns all that it
// hands out; the ports are safe on any thread while it lives.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "engine/postgres/schema.h"
#include "store/backend.h"

namespace penstock::store::postgres {

struct PostgresOptions {
  std::string url;            // libpq URI or keywords; TLS modes as libpq
  std::string password = {};  // empty = from the URL, PGPASSWORD or the pass file
  // Batches and reads in flight; one more listens for changes, and as many are opened for the usage
  // of throttle keys once it is asked for. Two more when there is a cache of quotas.
  std::size_t connections = 4;
  Millis deadline = Seconds{2};  // of every call, waiting for a connection included
  Millis limits_deadline{50};    // the same, of every call of LimitStore
  std::string application_name = "penstock";
};

// What the migration and every connection need to know.
ConnectOptions connect_options(const PostgresOptions& options);

// Whether libpq understands `url`, without connecting; else why not, which may quote parts of it.
Result<void> check_url(const std::string& url);

class PostgresStore {
 public:
  // Connects once to check the schema. `conflict`: it has another version, the sentence says what
  // to run. `unavailable`: no connection. `log` may be null, else it must outlive the store.
  static Result<std::unique_ptr<PostgresStore>> open(const PostgresOptions& options, Log* log);
  PostgresStore(const PostgresStore&) = delete;
  PostgresStore& operator=(const PostgresStore&) = delete;
  ~PostgresStore();

  // The ports live as long as this object.
  Backend backend() noexcept;

 private:
  struct Parts;
  explicit PostgresStore(std::unique_ptr<Parts> parts) noexcept;
  std::unique_ptr<Parts> parts_;
};

}  // namespace penstock::store::postgres
