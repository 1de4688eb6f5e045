// One HTTP request and its answer, as routes see them; and what both sides of a connection share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace penstock::wire {

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
  // numbered above this one, until either side leaves (front/http/http.h).
  std::optional<std::uint64_t> stream_after;
  // The route sends its own `Cache-Control` and `X-Content-Type-Options`. Otherwise the server adds
  // `no-store` and `nosniff`: an answer is data of this moment for this caller.
  bool sets_caching = false;
};

// Answers the request; called exactly once, on any thread, at once or later.
}  // namespace penstock::wire
