#include "engine/postgres/inspect.h"

#include "engine/postgres/schema.h"

namespace penstock::store::postgres {

DatabaseResult<ServerView> inspect(Connection& connection, const runtime::Deadline& deadline) {
  const Rows answer = PENSTOCK_TRY(connection.run(call("inspect_server"), deadline));
  const auto server = answer[0];
  ServerView view{.version = connection.server_version(),
                  .role = server[0],
                  .fsync = server[1].as<std::string_view>() == "on",
                  .full_page_writes = server[2].as<std::string_view>() == "on",
                  .synchronous_commit = server[3],
                  .connections_max = server[4],
                  .connections_used = server[5],
                  .role_connections_max = server[6],
                  .read_only = server[7],
                  .clock = server[8]};
  const Rows missing = PENSTOCK_TRY(connection.run(call("missing_grants"), deadline));
  view.missing = missing.map([](auto row) {
    return MissingGrant{.privilege = row[0], .object = row[1], .sequence = row[2]};
  });
  const auto schema = current_version(connection, deadline);
  constexpr std::string_view kNotAllowed = "42501";
  if (!schema && schema.error().code != kNotAllowed) return std::unexpected(schema.error());
  view.schema_known = schema.has_value();
  view.schema = schema.value_or(0);
  return view;
}

}  // namespace penstock::store::postgres
