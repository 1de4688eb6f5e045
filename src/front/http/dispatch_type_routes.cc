#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "front/http/dispatch_routes.h"
#include "front/http/dispatch_views.h"
#include "front/http/json_routes.h"
#include "front/http/paging.h"
#include "wire/described.h"

namespace penstock::front {
namespace {

using service::DispatchService;

constexpr std::string_view kTypes = "/admin/dispatch/types";

// Shown and never set.
constexpr std::array<std::string_view, 3> kShown = {"itemType", "version", "changedAt"};

auto send_type(Exchange&& exchange, const DispatchService& dispatch) {
  return [exchange = std::move(exchange),
          kinds = dispatch.sink_kinds()](Result<store::ItemTypeRecord> record) mutable {
    if (!record) return exchange.fail(record.error());
    wire::JsonWriter out;
    encode_item_type(out, *record, kinds);
    exchange.send(200, std::move(out).take());
  };
}

void list_types(DispatchService& dispatch, const Clock& clock, const Request& request,
                Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  Result<Page> page = page_of(request);
  if (!page) return exchange.fail(page.error());
  // One more than asked for tells whether there is a next page.
  dispatch.list_types(
      ItemType::trusted(std::move(page->after)), page->limit + 1,
      [exchange = std::move(exchange), limit = page->limit,
       kinds = dispatch.sink_kinds()](Result<std::vector<store::ItemTypeRecord>> records) mutable {
        if (!records) return exchange.fail(records.error());
        Response response;
        if (records->size() > limit) {
          records->resize(limit);
          response.headers.push_back(next_page_link(kTypes, limit, records->back().type.str()));
        }
        wire::JsonWriter out(records->size() * 512 + 16);
        out.begin_array();
        for (const store::ItemTypeRecord& record : *records) {
          encode_item_type(out, record, kinds);
        }
        out.end_array();
        response.body = std::move(out).take();
        exchange.send(std::move(response));
      });
}

void get_type(DispatchService& dispatch, const Clock& clock, const Request& request,
              Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  auto type = read_type(request, exchange);
  if (!type) return;
  dispatch.find_type(*type, send_type(std::move(exchange), dispatch));
}

// The settings are read from a copy of the body once those in force are known: a merge needs them.
Result<core::ItemTypeSettings> decode(const std::string& body, core::ItemTypeSettings settings,
                                      Kinds kinds) {
  const wire::JsonDocument document = PENSTOCK_TRY(wire::parse_json(body));
  PENSTOCK_TRY(wire::read_record(settings, document.root(), {.also = kShown, .kinds = kinds}));
  return settings;
}

void put_type(DispatchService& dispatch, const Clock& clock, const Request& request,
              Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  auto type = read_type(request, exchange);
  if (!type || !read_json(request, exchange)) return;
  std::string request_id = exchange.request_id();
  dispatch.change_type(
      std::move(*type),
      [body = std::string(request.body), kinds = dispatch.sink_kinds()](const auto&) {
        return decode(body, {}, kinds);
      },
      std::move(request_id), send_type(std::move(exchange), dispatch));
}

void patch_type(DispatchService& dispatch, const Clock& clock, const Request& request,
                Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  auto type = read_type(request, exchange);
  if (!type || !read_json(request, exchange)) return;
  std::string request_id = exchange.request_id();
  const auto merge =
      [body = std::string(request.body), name = type->str(), kinds = dispatch.sink_kinds()](
          const std::optional<core::ItemTypeSettings>& current) -> Result<core::ItemTypeSettings> {
    if (!current) return fail(ErrorKind::not_found, "there is no item type " + name);
    return decode(body, *current, kinds);
  };
  dispatch.change_type(std::move(*type), merge, std::move(request_id),
                       send_type(std::move(exchange), dispatch));
}

void get_history(DispatchService& dispatch, const Clock& clock, const Request& request,
                 Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  auto type = read_type(request, exchange);
  if (!type) return;
  dispatch.type_history(std::move(*type),
                        [exchange = std::move(exchange), kinds = dispatch.sink_kinds()](
                            Result<std::vector<service::ItemTypeChange>> changes) mutable {
                          if (!changes) return exchange.fail(changes.error());
                          exchange.send(200, encode_type_history(*changes, kinds));
                        });
}

}  // namespace

void add_dispatch_type_routes(std::vector<Route>& routes, DispatchService& dispatch,
                              const Clock& clock) {
  const auto add = [&](Method method, std::string_view pattern, auto* handler) {
    const bool has_body = method == Method::put || method == Method::patch;
    routes.push_back({method, pattern, Access::admin,
                      has_body ? BodyLimit::single : BodyLimit::none,
                      [handler, &dispatch, &clock](const Request& request, Reply&& reply) {
                        handler(dispatch, clock, request, std::move(reply));
                      }});
  };
  add(Method::get, kTypes, list_types);
  add(Method::get, "/admin/dispatch/types/{itemType}", get_type);
  add(Method::put, "/admin/dispatch/types/{itemType}", put_type);
  add(Method::patch, "/admin/dispatch/types/{itemType}", patch_type);
  add(Method::get, "/admin/dispatch/types/{itemType}/history", get_history);
}

}  // namespace penstock::front
