// Finds the route of a path, segment by segment. Sans-io; immutable after construction, so one
// table serves all threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "front/http/http.h"

namespace penstock::front {

inline constexpr std::size_t kPathSegmentsMax = 16;  // the longest route of the API has 6

struct RouteMatch {
  // 0 = found, else 400 (broken percent-encoding), 404 or 405.
  int status = 0;
  const Route* route = nullptr;
  std::string allow;  // with 405: "GET, HEAD, POST"
};

class Router {
 public:
  explicit Router(std::vector<Route> routes);

  // `path` is as sent (percent-encoded, without the query). A literal beats a {name}, unless only
  // the {name}'s route has the method: `GET /slots/batch` is the slot of an event called "batch".
  // HEAD falls back to GET. A segment is never empty, so `/x` and `/x/` are two paths.
  // Replaces `params` by the decoded values of the {names}.
  RouteMatch match(Method method, std::string_view path, std::vector<std::string>& params) const;

 private:
  static constexpr std::size_t kMethods = static_cast<std::size_t>(Method::other);
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Node {
    std::vector<std::pair<std::string, std::uint32_t>> literals;  // sorted
    std::uint32_t any = kNone;                                    // the {name} child
    std::array<const Route*, kMethods> routes{};
  };
  struct Walk;

  std::uint32_t child(std::uint32_t node, std::string_view segment);
  bool find(Walk& walk, std::uint32_t node, std::size_t depth) const;

  std::vector<Route> routes_;
  std::vector<Node> nodes_;
};

}  // namespace penstock::front
