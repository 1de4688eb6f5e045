#include "engine/mariadb/inspect.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/mariadb/query.h"
#include "engine/mariadb/schema.h"

namespace penstock::store::mariadb {
namespace {

// "denied to user … for table" and "for column"; "to database" when nothing at all is granted.
constexpr std::array<std::string_view, 3> kDenied = {"1142", "1143", "1044"};
constexpr std::array<std::string_view, 6> kNeeded = {"may_select",      "may_insert_usage",
                                                     "may_insert_node", "may_insert_policy",
                                                     "may_update",      "may_delete"};

bool is_denied(const DatabaseError& error) {
  return std::ranges::find(kDenied, error.code) != kDenied.end();
}

}  // namespace

DatabaseResult<ServerView> inspect(Connection& connection, const runtime::Deadline& deadline) {
  const Rows answer = PENSTOCK_TRY(connection.run(call("inspect_server"), deadline));
  const Rows threads = PENSTOCK_TRY(connection.run(call("inspect_threads"), deadline));
  const auto server = answer[0];
  const std::string_view doublewrite = server[4];
  ServerView view{.version = server[0],
                  .account = server[1],
                  .database = server[7],
                  .connections_max = server[2],
                  .connections_used = threads.empty() ? 0 : threads.number(0, 1),
                  .flush_log_at_commit = server[3],
                  .doublewrite = doublewrite != "0" && doublewrite != "OFF",
                  .read_only = server[5],
                  .clock = server[6]};
  const auto schema = current_version(connection, deadline);
  if (!schema && !is_denied(schema.error())) return std::unexpected(schema.error());
  view.schema = schema.value_or(0);
  if (!schema) view.refused.push_back(schema.error().error.what);
  if (view.schema == 0) return view;
  for (const std::string_view right : kNeeded) {
    const auto allowed = connection.run(call(right), deadline);
    if (allowed) continue;
    if (!is_denied(allowed.error())) return std::unexpected(allowed.error());
    view.refused.push_back(allowed.error().error.what);
  }
  return view;
}

}  // namespace penstock::store::mariadb
