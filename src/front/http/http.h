// What a route sees of HTTP: a request view, a response, and the table of routes. No Beast, no
// sockets: handlers and their tests include only this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace penstock::front {

enum class Method : std::uint8_t { get, head, post, put, patch, del, options, other };

std::string_view to_string(Method method) noexcept;

using Header = std::pair<std::string, std::string>;

// Valid until the handler returns: what it needs later it copies.
struct Request {
  Method method = Method::get;
  std::string_view target;  // path and query as sent
  std::string_view path;    // still percent-encoded
  std::string_view query;   // after the `?`, still percent-encoded
  // Values of the route's {names} in order, percent-decoded.
  std::vector<std::string> params;
  std::vector<std::pair<std::string_view, std::string_view>> headers;
  std::string_view body;
  std::string_view peer_address;  // of the socket, without port
  std::string request_id;
  // Whose token opened the route: "admin", "api" or "anonymous". Only of a route with a scope.
  std::string_view who;

  // First header of that name (any case); empty when absent.
  std::string_view header(std::string_view name) const noexcept;
  // First query parameter of that name, percent-decoded; nullopt when absent, `invalid` when its
  // encoding is broken. A `+` is itself, not a space: instants have offsets, nothing has spaces.
  Result<std::optional<std::string>> query_param(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string body;
  std::string_view content_type = "application/json";  // a literal
  std::vector<Header> headers;                         // beyond those the server adds
  // The same as whole lines, `Name: value\r\n`, for routes that answer often. Written as they are:
  // whoever makes them sees to it that no value holds a control character.
  std::string header_lines;
  // Set: the answer has no end. After `body` come the events that are published from then on, those
  // numbered above this one, until either side leaves (front/http/stream.h).
  std::optional<std::uint64_t> stream_after;
  // The route sends its own `Cache-Control` and `X-Content-Type-Options`. Otherwise the server adds
  // `no-store` and `nosniff`: an answer is data of this moment for this caller.
  bool sets_caching = false;
};

// Answers the request; called exactly once, on any thread, at once or later.
using Reply = std::move_only_function<void(Response&&)>;
using Handler = std::function<void(const Request&, Reply&&)>;

// Which token opens a route.
enum class Access : std::uint8_t {
  everyone,  // no token, wherever it comes from: what holds no data (the console's own files)
  open,      // no token on loopback or when configured so (health, metrics)
  api,       // the api token or the admin token, when an api token is set
  admin,     // the admin token, when one is set
};

std::string_view to_string(Access access) noexcept;

enum class BodyLimit : std::uint8_t {
  none,    // a small body (up to kUnusedBodyBytesMax) is read and dropped
  single,  // HttpLimits::body_bytes
  batch,   // HttpLimits::batch_body_bytes
  item,    // HttpLimits::item_body_bytes
};
std::string_view to_string(BodyLimit limit) noexcept;

// Bodies nobody asked for: clients that send `{}` along with every call are let through.
inline constexpr std::size_t kUnusedBodyBytesMax = 64 * 1024;

struct Route {
  Method method = Method::get;
  std::string_view
      pattern;  // "/api/v1/slots/{eventId}"; a {name} is one segment, a literal wins over it
  Access access = Access::api;
  BodyLimit body = BodyLimit::none;
  Handler handler;
  // What a token must be for, beyond `access`. The admin token has every scope, the api token none;
  // a token of either kind being set guards the route.
  std::string_view scope = {};
  // A proxy asks here about somebody else's request and repeats its headers: they say nothing about
  // who calls us.
  bool speaks_for_others = false;
};

}  // namespace penstock::front
