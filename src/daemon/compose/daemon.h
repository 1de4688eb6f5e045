// Puts a daemon together from its settings: the only room that names concrete backends.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "daemon/config/config.h"
#include "sink/extension.h"

namespace penstock::daemon {

// A running daemon. Members are made in start() and unmade in reverse: the front first, so that no
// request finds its service gone; the store last, so that all that was acknowledged is on disk.
class Daemon {
 public:
  // `clock`, `log` and `extensions` must outlive the daemon.
  static Result<std::unique_ptr<Daemon>> start(
      const Config& config, const Clock& clock, Log& log,
      std::span<const sink::MakeExtension> extensions = {});
  virtual ~Daemon() = default;

  virtual std::string http_address() const = 0;  // "127.0.0.1:8080"
  virtual std::string resp_address() const = 0;  // "127.0.0.1:6380"; empty = not served
  // Takes over the tokens, the certificates and the passwords of clients that `config` has. On an
  // error the old ones stay in force.
  virtual Result<void> renew(const Config& config) = 0;
  // Stops accepting, finishes what is in flight, flushes. Blocks; idempotent.
  virtual void stop() = 0;
};

}  // namespace penstock::daemon
