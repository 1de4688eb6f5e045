// Rate limits for a server of any framework: what is known of a request goes in, a decision with a
// status and header fields comes out. Immutable once made; safe on any thread.
//
// Whom to believe: the address of the socket and what the server itself says (target, user) are
// facts. Headers about the client (X-Forwarded-For and the user header) count only when the peer is
// a trusted proxy; of X-Forwarded-For the right-most hop that is no trusted proxy is the client.
// X-API-Key is believed from anyone, since a made-up one adds a limit and takes none away.
#pragma once

#include <penstock/expected.h>
#include <penstock/export.h>
#include <penstock/limiter.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock {
inline namespace v0 {

// What a key is made of, in the order in which it stands there: `user:123|route:/v1/pay`.
enum class KeyPart : std::uint8_t { client_address, api_key, user, route };

struct FilterOptions {
  // One limit a rule, all or none. A rule with a part that the request lacks gives no limit; when
  // none does, the client's address is the key. At most 16.
  std::vector<std::vector<KeyPart>> rules = {{KeyPart::client_address}, {KeyPart::api_key}};
  std::vector<std::string> trusted_proxies = {};  // addresses and networks: "10.0.0.0/8"
  std::string user_header = "X-User-Id";          // in which a trusted proxy names the user
  std::size_t ipv6_prefix_bits = 64;              // that make one client; 1 to 128
  int denied_status = 429;                        // or 403
  // Requests that always pass and cost nothing, such as "OPTIONS".
  std::vector<std::string> free_methods = {};
};

struct HeaderView {
  std::string_view name;
  std::string_view value;
};

// Appends all values of the header `name` (any case) in the order in which they came.
using HeaderLookup = std::function<void(std::string_view name, std::vector<std::string_view>&)>;

// What is known of a request. Views that live as long as the call.
struct RequestView {
  std::string_view peer_address;  // of the socket, without a port
  std::string_view method = {};
  std::string_view target = {};  // the path, query and all: the route
  std::string_view user = {};    // whom the server has authenticated; empty = nobody
  // Either of the two; both are asked.
  std::span<const HeaderView> headers = {};
  HeaderLookup find_header = {};
};

struct HeaderField {
  std::string name;
  std::string value;
};

struct FilterDecision {
  bool allowed = false;
  int status = 0;  // to answer with when it is not allowed: 429 or 403; 0 = pass
  // For the answer, whichever it is: X-RateLimit-Limit, X-RateLimit-Remaining, RateLimit,
  // RateLimit-Policy (IETF draft 10), and Retry-After on a denial that ends.
  std::vector<HeaderField> headers = {};
  std::string message = {};  // of a denial, for people
  std::string key = {};      // that bound, and how things stand with it, as Decision says
  std::int64_t limit = 0;
  std::int64_t remaining = 0;
  std::chrono::microseconds retry_after{0};
  std::chrono::microseconds reset_after{0};
};

class PENSTOCK_API Filter {
 public:
  // Shares the state of `limiter`, which may go before the filter does.
  static Expected<Filter> make(const Limiter& limiter, const FilterOptions& options = {});

  Filter(Filter&& other) noexcept;
  Filter& operator=(Filter&& other) noexcept;
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;
  ~Filter();

  FilterDecision check(const RequestView& request, std::int64_t cost = 1) const;

 private:
  class Impl;
  explicit Filter(std::unique_ptr<const Impl> impl) noexcept;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace v0
}  // namespace penstock
