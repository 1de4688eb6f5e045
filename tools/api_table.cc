// Prints the route table, and the schemas of the records that routes take, as JSON:
// {"routes": [{operationId, method, path, access, body, scope?, summary, request?, answer?}],
//  "schemas": {name: schema}}. tools/openapi.py makes the description of the API of it.
#include <fmt/format.h>

#include <set>
#include <string_view>

#include "wire/described.h"
#include "wire/http/routes.h"

namespace penstock {
namespace {

void write_route(wire::JsonWriter& out, const wire::RouteInfo& row) {
  out.begin_object()
      .member("operationId", row.id)
      .member("method", wire::to_string(row.method))
      .member("path", row.pattern)
      .member("access", wire::to_string(row.access))
      .member("body", wire::to_string(row.body))
      .member("summary", row.summary);
  if (!row.scope.empty()) out.member("scope", row.scope);
  if (row.request != nullptr) out.member("request", row.request->name);
  if (row.answer != nullptr) out.member("answer", row.answer->name);
  out.end_object();
}

std::string table() {
  wire::JsonWriter out;
  out.begin_object().key("routes").begin_array();
  for (const wire::RouteInfo& row : wire::kRoutes) write_route(out, row);
  out.end_array().key("schemas").begin_object();
  std::set<std::string_view> written;
  for (const wire::RouteInfo& row : wire::kRoutes) {
    for (const RecordInfo* const record : {row.request, row.answer}) {
      if (record == nullptr || !written.insert(record->name).second) continue;
      out.key(record->name);
      wire::write_schema(out, *record);
    }
  }
  out.end_object().end_object();
  return std::move(out).take();
}

}  // namespace
}  // namespace penstock

int main() { fmt::print("{}\n", penstock::table()); }
