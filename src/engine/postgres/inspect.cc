#include "engine/postgres/inspect.h"

#include "engine/postgres/calls.h"
#include "engine/postgres/schema.h"

namespace penstock::store::postgres {

DatabaseResult<ServerView> inspect(Connection& connection, const runtime::Deadline& deadline) {
  const auto server = connection.run({.sql = statement("inspect_server")}, deadline);
  if (!server) return std::unexpected(server.error());
  ServerView view{.version = connection.server_version(),
                  .role = std::string(server->text(0, 0)),
                  .fsync = server->text(0, 1) == "on",
                  .full_page_writes = server->text(0, 2) == "on",
                  .synchronous_commit = std::string(server->text(0, 3)),
                  .connections_max = server->int4(0, 4),
                  .connections_used = server->int8(0, 5),
                  .role_connections_max = server->int4(0, 6),
                  .read_only = server->boolean(0, 7),
                  .clock = from_epoch_us(server->int8(0, 8))};
  const auto missing = connection.run({.sql = statement("missing_grants")}, deadline);
  if (!missing) return std::unexpected(missing.error());
  for (int row = 0; row < missing->size(); ++row) {
    view.missing.push_back({.privilege = std::string(missing->text(row, 0)),
                            .object = std::string(missing->text(row, 1)),
                            .sequence = missing->boolean(row, 2)});
  }
  const auto schema = current_version(connection, deadline);
  constexpr std::string_view kNotAllowed = "42501";
  if (!schema && schema.error().sqlstate != kNotAllowed) return std::unexpected(schema.error());
  view.schema_known = schema.has_value();
  view.schema = schema.value_or(0);
  return view;
}

}  // namespace penstock::store::postgres
