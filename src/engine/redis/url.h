// Where a Redis is, as people write it:
// redis://[user:password@]host[:port][,host:port…][/database], rediss:// for TLS. Pure. What is
// wrong is said without quoting the text, which may hold a password.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace penstock::store::redis {

struct Endpoint {
  std::string host;
  int port = 6379;

  std::string text() const;  // host:port, for people
  friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

struct RedisUrl {
  std::vector<Endpoint> endpoints;  // at least one; several are seeds of one cluster
  std::string user = {};
  std::string password = {};
  int database = 0;
  bool tls = false;
};

Result<RedisUrl> parse_url(std::string_view url);

// "host:port" as redirections write it; an IPv6 address may stand without brackets. False: neither.
bool parse_endpoint(std::string_view text, Endpoint& endpoint);

}  // namespace penstock::store::redis
