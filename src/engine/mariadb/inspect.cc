#include "engine/mariadb/inspect.h"

#include <array>
#include <string_view>

#include "engine/mariadb/query.h"
#include "engine/mariadb/schema.h"

namespace penstock::store::mariadb {
namespace {

// "denied to user … for table" and "for column"; "to database" when nothing at all is granted.
constexpr std::array kDenied = {1142U, 1143U, 1044U};
constexpr std::array<std::string_view, 6> kNeeded = {"may_select",      "may_insert_usage",
                                                     "may_insert_node", "may_insert_policy",
                                                     "may_update",      "may_delete"};

DatabaseResult<Rows> ask(Connection& connection, std::string_view name,
                         const runtime::Deadline& deadline) {
  return connection.run(Query(statement(name)).text(), deadline);
}

bool is_denied(const DatabaseError& error) {
  for (const unsigned number : kDenied) {
    if (error.number == number) return true;
  }
  return false;
}

}  // namespace

DatabaseResult<ServerView> inspect(Connection& connection, const runtime::Deadline& deadline) {
  const auto server = ask(connection, "inspect_server", deadline);
  if (!server) return std::unexpected(server.error());
  const auto threads = ask(connection, "inspect_threads", deadline);
  if (!threads) return std::unexpected(threads.error());
  ServerView view{.version = std::string(server->text(0, 0)),
                  .account = std::string(server->text(0, 1)),
                  .database = std::string(server->text(0, 7)),
                  .connections_max = server->number(0, 2),
                  .connections_used = threads->size() == 0 ? 0 : threads->number(0, 1),
                  .flush_log_at_commit = server->number(0, 3),
                  .doublewrite = server->text(0, 4) != "0" && server->text(0, 4) != "OFF",
                  .read_only = server->number(0, 5) != 0,
                  .clock = Instant{Micros{server->number(0, 6)}}};
  const auto schema = current_version(connection, deadline);
  if (!schema && !is_denied(schema.error())) return std::unexpected(schema.error());
  view.schema = schema.value_or(0);
  if (!schema) view.refused.push_back(schema.error().error.what);
  if (view.schema == 0) return view;
  for (const std::string_view right : kNeeded) {
    const auto allowed = ask(connection, right, deadline);
    if (allowed) continue;
    if (!is_denied(allowed.error())) return std::unexpected(allowed.error());
    view.refused.push_back(allowed.error().error.what);
  }
  return view;
}

}  // namespace penstock::store::mariadb
