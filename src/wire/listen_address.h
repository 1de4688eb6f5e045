// Where a server listens: an address and a port, as people write them in settings and flags. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace penstock::wire {

struct ListenAddress {
  std::string address;  // an IP address, IPv6 without brackets
  std::uint16_t port = 0;

  bool loopback() const noexcept;
  friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};

// "127.0.0.1:8080", "[::1]:8080", "localhost:0" (0 = any free port). The error's `what` is a
// predicate.
Result<ListenAddress> parse_listen(std::string_view text);
std::string format_listen(const ListenAddress& listen);  // IPv6 in brackets

}  // namespace penstock::wire
