// Where a load goes: a name made into one address, once, so that what was judged is what is loaded.
#pragma once

#include <cstdint>
#include <string>

#include <sys/socket.h>

#include "base/result.h"
#include "base/time.h"

namespace penstock::tool::bench {

struct Target {
  std::string host;  // as the user wrote it
  std::uint16_t port = 0;
  sockaddr_storage address{};
  socklen_t address_bytes = 0;

  bool is_loopback() const noexcept;
};

// `unavailable`: there is no such host.
Result<Target> resolve(const std::string& host, std::uint16_t port);

// Loopback may be loaded; anything else only when `consent` is its host, written out. The error is
// a sentence.
Result<void> may_load(const Target& target, const std::string& consent);

// Connects and hangs up: whether anybody listens.
Result<void> probe(const Target& target, Millis timeout);

// A socket that does not block, connecting or connected; below 0 = -errno.
int open_socket(const Target& target) noexcept;

}  // namespace penstock::tool::bench
