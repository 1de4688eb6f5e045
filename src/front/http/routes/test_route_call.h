// For tests: a route called as the server calls it.
#pragma once

#include <algorithm>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "front/http/http.h"

namespace penstock::front {

struct RouteCall {
  Method method = Method::get;
  std::string path = {};
  std::string query = {};
  std::string body = {};
  std::vector<std::string> params = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string peer = {};
};

// The one of that pattern; null = there is none.
inline const Route* find_route(std::span<const Route> routes, Method method,
                               std::string_view pattern) {
  const auto found = std::ranges::find_if(
      routes, [&](const Route& each) { return each.method == method && each.pattern == pattern; });
  return found == routes.end() ? nullptr : &*found;
}

// Waits for the answer; status 0 when there is no route. All that the request shows is gone when
// the handler returns, as the contract allows.
inline Response answer_of(const Route* route, RouteCall call) {
  if (route == nullptr) return {.status = 0, .body = "no such route"};
  std::promise<Response> promise;
  auto answer = promise.get_future();
  {
    const auto text = std::make_unique<const RouteCall>(std::move(call));
    Request request{.method = text->method,
                    .path = text->path,
                    .query = text->query,
                    .params = text->params,
                    .body = text->body,
                    .peer_address = text->peer,
                    .request_id = "req-1"};
    for (const auto& [name, value] : text->headers) request.headers.emplace_back(name, value);
    route->handler(request, [promise = std::move(promise)](Response&& response) mutable {
      promise.set_value(std::move(response));
    });
  }
  return answer.get();
}

}  // namespace penstock::front
