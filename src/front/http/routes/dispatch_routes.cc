// The routes of dispatch: /api/v1/dispatch for items, /admin/dispatch/types for their settings.
#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "front/http/routes/dispatch_views.h"
#include "front/http/routes/exchange.h"
#include "front/http/routes/routes.h"
#include "wire/described.h"
#include "wire/dispatch.h"
#include "wire/percent.h"

namespace penstock::front {
namespace {

using service::DispatchService;

constexpr std::string_view kItemId = "itemId";

struct Dispatch {
  DispatchService& service;
  std::size_t context_bytes_max;
};

Result<ItemType> path_type(const Request& request) {
  return path_id<ItemType>(request, 0, "itemType");
}
Result<ItemId> path_item(const Request& request) { return path_id<ItemId>(request, 1, kItemId); }

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

Result<void> enqueue_one(const Dispatch& context, const Request& request, Exchange& exchange) {
  const ItemType type = PENSTOCK_TRY(path_type(request));
  core::ItemCall call = PENSTOCK_TRY(read_body(request, exchange, [&](wire::JsonValue value) {
    return wire::decode_item_call(value, type, context.context_bytes_max);
  }));
  std::string id = call.id.str();
  std::vector<core::ItemCall> calls;
  calls.push_back(std::move(call));
  std::string request_id = exchange.request_id();
  context.service.enqueue(std::move(calls), std::move(request_id),
                          [exchange = std::move(exchange), type,
                           id = std::move(id)](const DispatchService::Taken& answers) mutable {
                            const Result<store::Enqueued>& taken = answers.front();
                            if (!taken) return exchange.fail(taken.error());
                            const Result<int> status = status_of_taken_item(*taken);
                            if (!status) return exchange.fail(status.error());
                            wire::JsonWriter out;
                            out.begin_object();
                            encode_taken(out, type.str(), id, *taken);
                            out.end_object();
                            exchange.send(*status, std::move(out).take());
                          });
  return {};
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

Result<void> enqueue_batch(const Dispatch& context, const Request& request, Exchange& exchange) {
  const ItemType type = PENSTOCK_TRY(path_type(request));
  PENSTOCK_TRY(context.service.may_take(type));
  const auto format = PENSTOCK_TRY(batch_format_of(request, exchange));
  auto batch = PENSTOCK_TRY(
      decode_entries<core::ItemCall>(request.body, format, kItemId, [&](wire::JsonValue value) {
        return wire::decode_item_call(value, type, context.context_bytes_max);
      }));
  std::string request_id = exchange.request_id();
  context.service.enqueue(
      std::move(batch.calls), std::move(request_id),
      [exchange = std::move(exchange),
       entries = std::move(batch.entries)](const DispatchService::Taken& answers) mutable {
        exchange.send(200, encode_results(entries, answers, kItemId, encode_answer));
      });
  return {};
}

Result<void> get_item(const Dispatch& context, const Request& request, Exchange& exchange) {
  ItemType type = PENSTOCK_TRY(path_type(request));
  ItemId id = PENSTOCK_TRY(path_item(request));
  context.service.find(std::move(type), std::move(id), sends(std::move(exchange), encode_item));
  return {};
}

Result<void> cancel_item(const Dispatch& context, const Request& request, Exchange& exchange) {
  ItemType type = PENSTOCK_TRY(path_type(request));
  ItemId id = PENSTOCK_TRY(path_item(request));
  std::string request_id = exchange.request_id();
  context.service.cancel(std::move(type), std::move(id), std::move(request_id),
                         sends_nothing(std::move(exchange)));
  return {};
}

Result<void> redrive_item(const Dispatch& context, const Request& request, Exchange& exchange) {
  ItemType type = PENSTOCK_TRY(path_type(request));
  ItemId id = PENSTOCK_TRY(path_item(request));
  std::string request_id = exchange.request_id();
  context.service.redrive(std::move(type), std::move(id), std::move(request_id),
                          sends(std::move(exchange), encode_item));
  return {};
}

Result<void> get_summary(const Dispatch& context, const Request& request, Exchange& exchange) {
  ItemType type = PENSTOCK_TRY(path_type(request));
  context.service.summary(std::move(type), sends(std::move(exchange), encode_summary));
  return {};
}

// Only what is DEAD is listed: the rest moves too fast for a list, or is in the item's own answer.
Result<void> check_status(const Request& request) {
  const std::optional<std::string> status = PENSTOCK_TRY(request.query_param("status"));
  if (status && *status == core::item_state_name(core::ItemState::dead)) return {};
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
  ItemId id = PENSTOCK_TRY(ItemId::parse("after", std::string(end + 1, text.data() + text.size())));
  return store::DeadPlace{.died = Instant{Micros{micros}}, .id = std::move(id)};
}

Result<void> list_dead(const Dispatch& context, const Request& request, Exchange& exchange) {
  ItemType type = PENSTOCK_TRY(path_type(request));
  PENSTOCK_TRY(check_status(request));
  const Page page = PENSTOCK_TRY(page_of(request));
  std::optional<store::DeadPlace> after = PENSTOCK_TRY(place_of(page.after));
  std::string path = "/api/v1/dispatch/";
  wire::append_percent_encoded(path, type.str());
  path += "?status=DEAD";
  context.service.dead(
      std::move(type), std::move(after), page.limit + 1,
      sends_page(std::move(exchange), std::move(path), page.limit, encode_dead, place_text));
  return {};
}

// --- Item types ---

// Shown and never set.
constexpr std::array<std::string_view, 3> kShown = {"itemType", "version", "changedAt"};

// Sinks show what is set of theirs by their kinds.
auto shows_type(const Dispatch& context) {
  return [kinds = context.service.sink_kinds()](wire::JsonWriter& out,
                                                const store::ItemTypeRecord& record) {
    encode_item_type(out, record, kinds);
  };
}

Result<void> list_types(const Dispatch& context, const Request& request, Exchange& exchange) {
  Page page = PENSTOCK_TRY(page_of(request));
  context.service.list_types(
      ItemType::trusted(std::move(page.after)), page.limit + 1,
      sends_page(std::move(exchange), std::string(wire::route("listItemTypes").pattern), page.limit,
                 shows_type(context),
                 [](const store::ItemTypeRecord& last) { return last.type.str(); }));
  return {};
}

Result<void> get_type(const Dispatch& context, const Request& request, Exchange& exchange) {
  const ItemType type = PENSTOCK_TRY(path_type(request));
  context.service.find_type(type, sends(std::move(exchange), shows_type(context)));
  return {};
}

// The settings are read from a copy of the body once those in force are known: a merge needs them.
Result<core::ItemTypeSettings> decode_settings(const std::string& body,
                                               core::ItemTypeSettings settings, Kinds kinds) {
  const wire::JsonDocument document = PENSTOCK_TRY(wire::parse_json(body));
  PENSTOCK_TRY(wire::read_record(settings, document.root(), {.also = kShown, .kinds = kinds}));
  return settings;
}

Result<void> put_type(const Dispatch& context, const Request& request, Exchange& exchange) {
  ItemType type = PENSTOCK_TRY(path_type(request));
  PENSTOCK_TRY(read_json(request, exchange));
  std::string request_id = exchange.request_id();
  context.service.change_type(
      std::move(type),
      [body = std::string(request.body), kinds = context.service.sink_kinds()](const auto&) {
        return decode_settings(body, {}, kinds);
      },
      std::move(request_id), sends(std::move(exchange), shows_type(context)));
  return {};
}

Result<void> patch_type(const Dispatch& context, const Request& request, Exchange& exchange) {
  ItemType type = PENSTOCK_TRY(path_type(request));
  PENSTOCK_TRY(read_json(request, exchange));
  std::string request_id = exchange.request_id();
  const auto merge =
      [body = std::string(request.body), name = type.str(), kinds = context.service.sink_kinds()](
          const std::optional<core::ItemTypeSettings>& current) -> Result<core::ItemTypeSettings> {
    if (!current) return fail(ErrorKind::not_found, "there is no item type " + name);
    return decode_settings(body, *current, kinds);
  };
  context.service.change_type(std::move(type), merge, std::move(request_id),
                              sends(std::move(exchange), shows_type(context)));
  return {};
}

Result<void> get_type_history(const Dispatch& context, const Request& request, Exchange& exchange) {
  ItemType type = PENSTOCK_TRY(path_type(request));
  context.service.type_history(
      std::move(type),
      sends(std::move(exchange), [kinds = context.service.sink_kinds()](const auto& changes) {
        return encode_type_history(changes, kinds);
      }));
  return {};
}

}  // namespace

void add_dispatch_routes(std::vector<Route>& routes, DispatchService& dispatch,
                         std::size_t context_bytes_max, const Clock& clock) {
  const Binder<Dispatch> bind(routes, {dispatch, context_bytes_max}, clock);
  bind(wire::route("enqueueItem"), enqueue_one);
  bind(wire::route("listDeadItems"), list_dead);
  bind(wire::route("enqueueItems"), enqueue_batch);
  bind(wire::route("summarizeItems"), get_summary);
  bind(wire::route("getItem"), get_item);
  bind(wire::route("cancelItem"), cancel_item);
  bind(wire::route("redriveItem"), redrive_item);
  bind(wire::route("listItemTypes"), list_types);
  bind(wire::route("getItemType"), get_type);
  bind(wire::route("putItemType"), put_type);
  bind(wire::route("patchItemType"), patch_type);
  bind(wire::route("getItemTypeHistory"), get_type_history);
}

}  // namespace penstock::front
