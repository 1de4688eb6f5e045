#include "front/http/server/router.h"

#include <algorithm>

#include "base/check.h"
#include "wire/percent.h"

namespace penstock::front {
namespace {

constexpr std::size_t index(Method method) noexcept { return static_cast<std::size_t>(method); }

bool is_placeholder(std::string_view segment) noexcept {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

struct Segments {
  std::array<std::string_view, kPathSegmentsMax> items;
  std::size_t count = 0;
};

// False: not a path that any route could have.
bool split(std::string_view path, Segments& segments) noexcept {
  if (path.empty() || path.front() != '/') return false;
  path.remove_prefix(1);
  for (;;) {
    if (segments.count == kPathSegmentsMax) return false;
    const std::size_t end = path.find('/');
    segments.items[segments.count++] = path.substr(0, end);
    if (end == path.npos) return true;
    path.remove_prefix(end + 1);
  }
}

}  // namespace

// One look-up: what is searched, and what was passed on the way.
struct Router::Walk {
  Segments segments;
  Method method = Method::get;
  std::array<std::string_view, kPathSegmentsMax> values;  // of the {names} so far
  std::size_t value_count = 0;
  const Route* route = nullptr;
  unsigned allowed = 0;  // bit per method, of all nodes the whole path leads to
};

Router::Router(std::vector<Route> routes) : routes_(std::move(routes)), nodes_(1) {
  for (const Route& route : routes_) {
    PENSTOCK_CHECK(route.method != Method::other && route.handler);
    Segments segments;
    PENSTOCK_CHECK(split(route.pattern, segments));
    std::uint32_t node = 0;
    for (std::size_t i = 0; i < segments.count; ++i) node = child(node, segments.items[i]);
    const Route*& place = nodes_[node].routes[index(route.method)];
    PENSTOCK_CHECK(place == nullptr);  // two routes for one method and path
    place = &route;
  }
}

// The child of that segment, made when it is not there yet.
std::uint32_t Router::child(std::uint32_t node, std::string_view segment) {
  const auto fresh = static_cast<std::uint32_t>(nodes_.size());
  if (is_placeholder(segment)) {
    if (nodes_[node].any != kNone) return nodes_[node].any;
    nodes_[node].any = fresh;
  } else {
    auto& literals = nodes_[node].literals;
    const auto at = std::ranges::lower_bound(
        literals, segment, {}, [](const auto& l) { return std::string_view(l.first); });
    if (at != literals.end() && at->first == segment) return at->second;
    literals.insert(at, {std::string(segment), fresh});
  }
  nodes_.emplace_back();
  return fresh;
}

// Depth first, literals first. Every step goes one segment down, so at most all nodes are visited.
bool Router::find(Walk& walk, std::uint32_t at, std::size_t depth) const {
  const Node& node = nodes_[at];
  if (depth == walk.segments.count) {
    for (std::size_t m = 0; m < kMethods; ++m) {
      if (node.routes[m]) walk.allowed |= 1U << m;
    }
    if (walk.method != Method::other) walk.route = node.routes[index(walk.method)];
    if (!walk.route && walk.method == Method::head) walk.route = node.routes[index(Method::get)];
    return walk.route != nullptr;
  }
  const std::string_view segment = walk.segments.items[depth];
  const auto literal = std::ranges::lower_bound(
      node.literals, segment, {}, [](const auto& l) { return std::string_view(l.first); });
  if (literal != node.literals.end() && literal->first == segment) {
    if (find(walk, literal->second, depth + 1)) return true;
  }
  if (node.any == kNone || segment.empty()) return false;
  walk.values[walk.value_count++] = segment;
  if (find(walk, node.any, depth + 1)) return true;
  --walk.value_count;
  return false;
}

RouteMatch Router::match(Method method, std::string_view path,
                         std::vector<std::string>& params) const {
  params.clear();
  Walk walk;
  walk.method = method;
  if (!split(path, walk.segments)) return {.status = 404};
  if (!find(walk, 0, 0)) {
    if (walk.allowed == 0) return {.status = 404};
    if (walk.allowed & (1U << index(Method::get))) walk.allowed |= 1U << index(Method::head);
    RouteMatch refused{.status = 405};
    for (std::size_t m = 0; m < kMethods; ++m) {
      if (!(walk.allowed & (1U << m))) continue;
      if (!refused.allow.empty()) refused.allow += ", ";
      refused.allow += to_string(static_cast<Method>(m));
    }
    return refused;
  }
  for (std::size_t i = 0; i < walk.value_count; ++i) {
    if (!wire::percent_decode(walk.values[i], params.emplace_back())) return {.status = 400};
  }
  return {.route = walk.route};
}

Result<void> check_routes(std::span<const Route> routes) {
  for (const wire::RouteInfo& row : wire::kRoutes) {
    const auto handlers = std::ranges::count(routes, row.id, &Route::id);
    if (handlers == 1) continue;
    return fail(ErrorKind::invalid, "the route " + std::string(row.id) + " has " +
                                        (handlers == 0 ? "no handler" : "two handlers"));
  }
  for (const Route& route : routes) {
    if (std::ranges::count(wire::kRoutes, route.id, &wire::RouteInfo::id) == 1) continue;
    return fail(ErrorKind::invalid,
                "the handler of " + std::string(route.pattern) + " has no row in the route table");
  }
  return {};
}

}  // namespace penstock::front
