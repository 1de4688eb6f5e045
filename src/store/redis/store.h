// The Redis backend: throttle limits, their policies and the nodes alive, for any number of nodes
// on one Redis or one Redis Cluster. Owns all that it hands out; the ports are safe on any thread
// while it lives.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "store/backend.h"

namespace penstock::store::redis {

struct RedisOptions {
  std::string url;              // redis://[user:password@]host[:port][,host…][/db], rediss:// = TLS
  std::string password = {};    // goes before the one of the URL
  bool cluster = false;         // the hosts are seeds of a Redis Cluster
  std::size_t connections = 4;  // to each node
  Millis deadline{50};          // of every decision, waiting for a connection included
  std::string ca_file = {};     // that signed the server's certificate; empty = the system's
  std::string key_prefix = "penstock:";  // of the names of all keys; no braces
};

// `invalid` naming the option: what open() would refuse, without connecting.
Result<void> check_options(const RedisOptions& options);

// What a client of the engine needs, certificates among it.
struct ClientOptions;
Result<ClientOptions> client_options(const RedisOptions& options);

class RedisStore {
 public:
  // Does not connect: a Redis that is away is what health() is for. `log` may be null, else it must
  // outlive the store.
  static Result<std::unique_ptr<RedisStore>> open(const RedisOptions& options, Log* log);
  RedisStore(const RedisStore&) = delete;
  RedisStore& operator=(const RedisStore&) = delete;
  ~RedisStore();

  // The ports live as long as this object.
  Backend backend() noexcept;

 private:
  struct Parts;
  explicit RedisStore(std::unique_ptr<Parts> parts) noexcept;
  std::unique_ptr<Parts> parts_;
};

}  // namespace penstock::store::redis
