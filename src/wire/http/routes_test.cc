#include "wire/http/routes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace penstock::wire {
namespace {

// Whether the pattern is "/" or segments that are text or one {name}.
bool is_pattern(std::string_view pattern) {
  if (!pattern.starts_with('/')) return false;
  return std::ranges::count(pattern, '{') == std::ranges::count(pattern, '}') &&
         pattern.find("//") == pattern.npos && pattern.find(' ') == pattern.npos;
}

TEST(Routes, have_an_id_and_a_place_of_their_own) {
  std::set<std::string_view> ids;
  std::set<std::pair<Method, std::string_view>> places;
  for (const RouteInfo& row : kRoutes) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id;
    EXPECT_TRUE(places.insert({row.method, row.pattern}).second) << row.id;
    EXPECT_TRUE(is_pattern(row.pattern)) << row.pattern;
  }
}

TEST(Routes, say_what_they_do_in_one_sentence) {
  for (const RouteInfo& row : kRoutes) {
    EXPECT_FALSE(row.summary.empty()) << row.id;
    EXPECT_FALSE(row.summary.ends_with('.')) << row.id;
    EXPECT_EQ(row.summary.find('\n'), row.summary.npos) << row.id;
  }
}

TEST(Routes, name_a_scope_of_an_area_where_they_show_or_change_its_data) {
  const std::set<std::string_view> areas = {"slots", "throttle", "dispatch", "payments", "gateway"};
  const std::set<std::string_view> rights = {"read",   "write",   "admin",
                                             "submit", "release", "report"};
  for (const RouteInfo& row : kRoutes) {
    EXPECT_TRUE(!row.by_scope || !row.scope.empty()) << row.id;
    if (row.scope.empty()) continue;
    const std::size_t colon = row.scope.find(':');
    EXPECT_TRUE(areas.contains(row.scope.substr(0, colon))) << row.id;
    EXPECT_TRUE(rights.contains(row.scope.substr(colon + 1))) << row.id;
    if (row.access == Access::everyone || row.access == Access::open) ADD_FAILURE() << row.id;
  }
}

TEST(Routes, are_found_by_their_id) {
  EXPECT_EQ(route("confirmSlot").pattern, "/api/v1/slots/{eventId}/confirm");
  EXPECT_EQ(to_string(route("confirmSlot").method), "POST");
  EXPECT_EQ(to_string(route("putSlotConfig").access), "admin");
  EXPECT_EQ(to_string(route("enqueueItem").body), "item");
}

}  // namespace
}  // namespace penstock::wire
