// Lets a request in by what its head says: whose daemon it asks for, whose page sent it, whether
// its body is named. A browser sends what any page tells it to, so a daemon without tokens would
// obey every page that its user opens. Pure; immutable after construction, safe on any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "front/http/http.h"
#include "wire/http/request_head.h"
#include "wire/ip_address.h"

namespace penstock::front {

struct GuardRules {
  // `host` or `host:port`: names of this daemon beyond loopback names and its own addresses. An
  // entry without a port stands for every port.
  std::vector<std::string> allowed_hosts;
  std::vector<std::string> allowed_origins;  // `https://host:port`: whose pages may change things
  // The operator has opened health and metrics to other machines: by any name.
  bool open_routes_by_any_name = false;
};

// What the server knows about a request beside its head.
struct GuardFacts {
  Access access = Access::api;
  bool speaks_for_others = false;  // Route::speaks_for_others
  bool guarded = false;            // by a token
  bool opened = true;              // the token was right, or none is needed
  bool waits = false;              // the token is one guess too many: no word about it
  bool has_body = false;
  std::string_view local_address;  // of the connection, when needs_local_address()
};

class RequestGuard {
 public:
  // `address` is the one listened on.
  RequestGuard(const std::string& address, bool tls, GuardRules rules);

  // Why the request is refused: 421, 403, 429, 401 or 415, in this order.
  std::optional<wire::Refusal> judge(const Request& request,
                                     const GuardFacts& facts) const noexcept;

  // Listening on all addresses: each connection has the one that was asked for.
  bool needs_local_address() const noexcept { return wildcard_; }

 private:
  bool is_host_known(std::string_view host, std::string_view local_address) const noexcept;
  bool is_origin_known(std::string_view origin, std::string_view host) const noexcept;

  const std::optional<wire::IpAddress> address_;
  const bool wildcard_;
  const bool tls_;
  const GuardRules rules_;
};

// `name`, `name:port`, `192.0.2.1`, `[2001:db8::1]:8080`.
bool is_host(std::string_view text) noexcept;
// `http://` or `https://` and a host: what browsers send as Origin.
bool is_origin(std::string_view text) noexcept;

}  // namespace penstock::front
