// What a route sees of HTTP: a request view, a response, and the row of the table that it answers.
// No Beast, no sockets: handlers and their tests include only this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "wire/http/message.h"
#include "wire/http/routes.h"

namespace penstock::front {

using wire::Access;
using wire::BodyLimit;
using wire::Header;
using wire::Method;
using wire::Request;
using wire::Response;
using wire::to_string;

using Reply = std::move_only_function<void(Response&&)>;
using Handler = std::function<void(const Request&, Reply&&)>;

// Bodies nobody asked for: clients that send `{}` along with every call are let through.
inline constexpr std::size_t kUnusedBodyBytesMax = 64 * 1024;

// A row of the table and who answers it.
struct Route : wire::RouteInfo {
  Route(const wire::RouteInfo& row, Handler answers)
      : wire::RouteInfo(row), handler(std::move(answers)) {}
  // Of no table.
  Route(Method its_method, std::string_view its_pattern, Access its_access, BodyLimit its_body,
        Handler answers)
      : wire::RouteInfo{.id = {},
                        .method = its_method,
                        .pattern = its_pattern,
                        .access = its_access,
                        .body = its_body},
        handler(std::move(answers)) {}

  Handler handler;
};

// Whether every row of wire::kRoutes is answered, once, and nothing else is. What is wrong is our
// own bug; a daemon with a hole in its API does not start.
Result<void> check_routes(std::span<const Route> routes);

// One event of the live stream. Made once and shared by all that view it; immutable.
struct StreamEvent {
  std::uint64_t number = 0;  // grows by one from event to event
  std::string bytes;         // as they stand in the body
};
using SharedEvent = std::shared_ptr<const StreamEvent>;

}  // namespace penstock::front
