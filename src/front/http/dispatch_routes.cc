#include "front/http/dispatch_routes.h"

#include <charconv>
#include <string>
#include <utility>

#include "front/http/batch_entries.h"
#include "front/http/dispatch_views.h"
#include "front/http/json_routes.h"
#include "front/http/paging.h"
#include "wire/dispatch.h"
#include "wire/percent.h"

namespace penstock::front {
namespace {

using service::DispatchService;

constexpr std::string_view kItemId = "itemId";

struct DispatchRoutes {
  DispatchService& dispatch;
  std::size_t context_bytes_max;
  const Clock& clock;
};

// 202 for what is new, 200 for the same again; the rest is a conflict.
Result<int> status_of_taken_item(const store::Enqueued& taken) {
  switch (taken.result) {
    case store::EnqueueResult::created:
      return 202;
    case store::EnqueueResult::same:
      return 200;
    case store::EnqueueResult::different:
      return fail(ErrorKind::conflict, "this item is known with another body");
    case store::EnqueueResult::cancelled:
      return fail(ErrorKind::conflict, "this item is CANCELLED");
  }
  return fail(ErrorKind::conflict, "this item is known");
}

std::optional<ItemId> read_id(const Request& request, Exchange& exchange) {
  return read_path_id<ItemId>(request, exchange, 1, "itemId");
}

void enqueue_one(const DispatchRoutes& context, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), context.clock);
  const auto type = read_type(request, exchange);
  if (!type) return;
  const auto document = read_json(request, exchange);
  if (!document) return;
  Result<core::ItemCall> call =
      wire::decode_item_call(document->root(), *type, context.context_bytes_max);
  if (!call) return exchange.fail(call.error());
  std::string id = call->id.str();
  std::vector<core::ItemCall> calls;
  calls.push_back(std::move(*call));
  std::string request_id = exchange.request_id();
  context.dispatch.enqueue(std::move(calls), std::move(request_id),
                           [exchange = std::move(exchange), type = type->str(),
                            id = std::move(id)](DispatchService::Taken answers) mutable {
                             const Result<store::Enqueued>& taken = answers.front();
                             if (!taken) return exchange.fail(taken.error());
                             const Result<int> status = status_of_taken_item(*taken);
                             if (!status) return exchange.fail(status.error());
                             wire::JsonWriter out;
                             out.begin_object();
                             encode_taken(out, type, id, *taken);
                             out.end_object();
                             exchange.send(*status, std::move(out).take());
                           });
}

void encode_answer(wire::JsonWriter& out, std::string_view id, const store::Enqueued& taken) {
  const Result<int> status = status_of_taken_item(taken);
  if (!status) return encode_failure(out, kItemId, id, status.error());
  out.begin_object()
      .member(kItemId, id)
      .member("status", *status)
      .member("state", core::item_state_name(taken.state))
      .member("scheduledTime", taken.scheduled)
      .end_object();
}

void enqueue_batch(const DispatchRoutes& context, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), context.clock);
  const auto type = read_type(request, exchange);
  if (!type) return;
  if (const Result<void> may = context.dispatch.may_take(*type); !may) {
    return exchange.fail(may.error());
  }
  const auto format = batch_format_of(request, exchange);
  if (!format) return;
  Result<BatchCalls<core::ItemCall>> batch =
      decode_entries<core::ItemCall>(request.body, *format, kItemId, [&](wire::JsonValue value) {
        return wire::decode_item_call(value, *type, context.context_bytes_max);
      });
  if (!batch) return exchange.fail(batch.error());
  std::string request_id = exchange.request_id();
  context.dispatch.enqueue(
      std::move(batch->calls), std::move(request_id),
      [exchange = std::move(exchange),
       entries = std::move(batch->entries)](const DispatchService::Taken& answers) mutable {
        // One answer is about 110 bytes.
        exchange.send(200, encode_results(entries, answers, kItemId, 112, encode_answer));
      });
}

auto send_item(Exchange&& exchange) {
  return [exchange = std::move(exchange)](Result<store::ItemView> item) mutable {
    if (!item) return exchange.fail(item.error());
    exchange.send(200, encode_item(*item));
  };
}

void get_item(const DispatchRoutes& context, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), context.clock);
  auto type = read_type(request, exchange);
  if (!type) return;
  auto id = read_id(request, exchange);
  if (!id) return;
  context.dispatch.find(std::move(*type), std::move(*id), send_item(std::move(exchange)));
}

void cancel_item(const DispatchRoutes& context, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), context.clock);
  auto type = read_type(request, exchange);
  if (!type) return;
  auto id = read_id(request, exchange);
  if (!id) return;
  std::string request_id = exchange.request_id();
  context.dispatch.cancel(std::move(*type), std::move(*id), std::move(request_id),
                          [exchange = std::move(exchange)](Result<store::ItemView> item) mutable {
                            if (!item) return exchange.fail(item.error());
                            exchange.send_empty();
                          });
}

void redrive_item(const DispatchRoutes& context, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), context.clock);
  auto type = read_type(request, exchange);
  if (!type) return;
  auto id = read_id(request, exchange);
  if (!id) return;
  std::string request_id = exchange.request_id();
  context.dispatch.redrive(std::move(*type), std::move(*id), std::move(request_id),
                           send_item(std::move(exchange)));
}

void get_summary(const DispatchRoutes& context, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), context.clock);
  auto type = read_type(request, exchange);
  if (!type) return;
  context.dispatch.summary(std::move(*type), [exchange = std::move(exchange)](
                                                 Result<service::DispatchSummary> summary) mutable {
    if (!summary) return exchange.fail(summary.error());
    exchange.send(200, encode_summary(*summary));
  });
}

// Only what is DEAD is listed: the rest moves too fast for a list, or is in the item's own answer.
Result<void> check_status(const Request& request) {
  const Result<std::optional<std::string>> status = request.query_param("status");
  if (!status) return std::unexpected(status.error());
  if (*status && **status == core::item_state_name(core::ItemState::dead)) return {};
  return invalid_field("status", "must be DEAD: only dead items are listed");
}

// "{microseconds}~{itemId}" of the last item of a page.
std::string place_text(const store::DeadItem& item) {
  return std::to_string(item.died.time_since_epoch().count()) + "~" + item.id.str();
}

Result<std::optional<store::DeadPlace>> place_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  std::int64_t micros = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), micros);
  if (error != std::errc{} || end == text.data() + text.size() || *end != '~') {
    return invalid_field("after", "must be taken from the Link header of the page before");
  }
  Result<ItemId> id = ItemId::parse("after", std::string(end + 1, text.data() + text.size()));
  if (!id) return std::unexpected(id.error());
  return store::DeadPlace{.died = Instant{Micros{micros}}, .id = std::move(*id)};
}

void list_dead(const DispatchRoutes& context, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), context.clock);
  auto type = read_type(request, exchange);
  if (!type) return;
  if (const Result<void> status = check_status(request); !status) {
    return exchange.fail(status.error());
  }
  const Result<Page> page = page_of(request);
  if (!page) return exchange.fail(page.error());
  Result<std::optional<store::DeadPlace>> after = place_of(page->after);
  if (!after) return exchange.fail(after.error());
  std::string path = "/api/v1/dispatch/";
  wire::append_percent_encoded(path, type->str());
  path += "?status=DEAD";
  context.dispatch.dead(
      std::move(*type), std::move(*after), page->limit + 1,
      [exchange = std::move(exchange), path = std::move(path),
       limit = page->limit](Result<std::vector<store::DeadItem>> found) mutable {
        if (!found) return exchange.fail(found.error());
        Response response;
        if (found->size() > limit) {
          found->resize(limit);
          response.headers.push_back(next_page_link(path, limit, place_text(found->back())));
        }
        response.body = encode_dead(*found);
        exchange.send(std::move(response));
      });
}

}  // namespace

void add_dispatch_routes(std::vector<Route>& routes, DispatchService& dispatch,
                         std::size_t context_bytes_max, const Clock& clock) {
  const auto add = [&](Method method, std::string_view pattern, BodyLimit body, auto* handler) {
    routes.push_back({method, pattern, Access::api, body,
                      [handler, context = DispatchRoutes{dispatch, context_bytes_max, clock}](
                          const Request& request, Reply&& reply) {
                        handler(context, request, std::move(reply));
                      }});
  };
  add(Method::post, "/api/v1/dispatch/{itemType}", BodyLimit::item, enqueue_one);
  add(Method::get, "/api/v1/dispatch/{itemType}", BodyLimit::none, list_dead);
  add(Method::post, "/api/v1/dispatch/{itemType}/batch", BodyLimit::batch, enqueue_batch);
  add(Method::get, "/api/v1/dispatch/{itemType}/summary", BodyLimit::none, get_summary);
  add(Method::get, "/api/v1/dispatch/{itemType}/{itemId}", BodyLimit::none, get_item);
  add(Method::del, "/api/v1/dispatch/{itemType}/{itemId}", BodyLimit::none, cancel_item);
  add(Method::post, "/api/v1/dispatch/{itemType}/{itemId}/redrive", BodyLimit::none, redrive_item);
}

}  // namespace penstock::front
