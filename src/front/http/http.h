// What a route sees of HTTP: a request view, a response, and the table of routes. No Beast, no
// sockets: handlers and their tests include only this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "wire/http/message.h"

namespace penstock::front {

using wire::Header;
using wire::Method;
using wire::Request;
using wire::Response;
using wire::to_string;

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
