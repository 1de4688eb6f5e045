#include "front/http/slot_routes.h"

#include <string>
#include <utility>

#include "base/iso8601.h"
#include "front/http/batch_entries.h"
#include "front/http/json_routes.h"
#include "front/http/paging.h"
#include "wire/slots.h"

namespace penstock::front {
namespace {

using service::SlotService;

// A day of 4-second windows is 21,600; this many are about 7 MB of JSON.
constexpr std::size_t kWindowsMax = 100'000;
constexpr std::string_view kConfigs = "/admin/rate-limit/configs";
constexpr Millis kWindowsSpanDefault = std::chrono::hours{1};

void assign_one(SlotService& slots, const Clock& clock, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  const auto document = read_json(request, exchange);
  if (!document) return;
  Result<core::SlotCall> call = wire::decode_slot_call(document->root());
  if (!call) return exchange.fail(call.error());
  std::vector<core::SlotCall> calls;
  calls.push_back(std::move(*call));
  std::string request_id = exchange.request_id();
  slots.assign(std::move(calls), std::move(request_id),
               [exchange = std::move(exchange)](SlotService::Assigned answers) mutable {
                 if (!answers.front()) return exchange.fail(answers.front().error());
                 wire::JsonWriter out;
                 wire::encode_assignment(out, *answers.front());
                 exchange.send(200, std::move(out).take());
               });
}

// One answer is about 190 bytes.
std::string encode_batch(const std::vector<BatchEntry>& entries,
                         const SlotService::Assigned& answers) {
  return encode_results(entries, answers, "eventId", 192,
                        [](wire::JsonWriter& out, std::string_view /*id*/,
                           const core::Slot& given) { wire::encode_assignment(out, given); });
}

void assign_batch(SlotService& slots, const Clock& clock, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  const auto format = batch_format_of(request, exchange);
  if (!format) return;
  Result<BatchCalls<core::SlotCall>> batch =
      decode_entries<core::SlotCall>(request.body, *format, "eventId", wire::decode_slot_call);
  if (!batch) return exchange.fail(batch.error());
  std::string request_id = exchange.request_id();
  slots.assign(std::move(batch->calls), std::move(request_id),
               [exchange = std::move(exchange),
                entries = std::move(batch->entries)](const SlotService::Assigned& answers) mutable {
                 exchange.send(200, encode_batch(entries, answers));
               });
}

void get_slot(SlotService& slots, const Clock& clock, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  auto event = read_path_id<EventId>(request, exchange, 0, "eventId");
  if (!event) return;
  slots.find(std::move(*event),
             [exchange = std::move(exchange)](Result<std::optional<core::Slot>> slot) mutable {
               if (!slot) return exchange.fail(slot.error());
               if (!*slot) return exchange.fail(404, "this event has no slot");
               wire::JsonWriter out;
               wire::encode_slot(out, **slot);
               exchange.send(200, std::move(out).take());
             });
}

void confirm_slot(SlotService& slots, const Clock& clock, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  auto event = read_path_id<EventId>(request, exchange, 0, "eventId");
  if (!event) return;
  std::string request_id = exchange.request_id();
  slots.confirm(std::move(*event), std::move(request_id),
                [exchange = std::move(exchange)](Result<core::Slot> slot) mutable {
                  if (!slot) return exchange.fail(slot.error());
                  wire::JsonWriter out;
                  wire::encode_slot(out, *slot);
                  exchange.send(200, std::move(out).take());
                });
}

void release_slot(SlotService& slots, const Clock& clock, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  auto event = read_path_id<EventId>(request, exchange, 0, "eventId");
  if (!event) return;
  std::string request_id = exchange.request_id();
  slots.release(std::move(*event), std::move(request_id),
                [exchange = std::move(exchange)](const Result<core::Slot>& slot) mutable {
                  if (!slot) return exchange.fail(slot.error());
                  exchange.send_empty();
                });
}

// A query parameter, or nothing when it is absent or empty.
Result<std::optional<std::string>> param(const Request& request, std::string_view name) {
  auto text = request.query_param(name);
  if (text && *text && (*text)->empty()) text->reset();
  return text;
}

Result<std::optional<Instant>> instant_param(const Request& request, std::string_view name) {
  const auto text = param(request, name);
  if (!text) return std::unexpected(text.error());
  if (!*text) return std::nullopt;
  const Result<Instant> instant = parse_instant(**text);
  if (!instant) return invalid_field(name, instant.error().what);
  return *instant;
}

// The empty name (= the default config) when the parameter is absent.
Result<ConfigName> config_param(const Request& request, std::string_view name) {
  const auto text = param(request, name);
  if (!text) return std::unexpected(text.error());
  if (!*text) return ConfigName{};
  return ConfigName::parse(name, **text);
}

void get_windows(SlotService& slots, const Clock& clock, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  Result<ConfigName> config = config_param(request, "config");
  if (!config) return exchange.fail(config.error());
  const auto from = instant_param(request, "from");
  if (!from) return exchange.fail(from.error());
  const auto to = instant_param(request, "to");
  if (!to) return exchange.fail(to.error());
  const Instant begin = from->value_or(cut_to_millis(exchange.now()));
  const Instant end = to->value_or(begin + kWindowsSpanDefault);
  if (end < begin) return exchange.fail(invalid_field("to", "must not be before from").error());
  slots.windows(std::move(*config), begin, end, kWindowsMax,
                [exchange = std::move(exchange)](Result<service::Windows> found) mutable {
                  if (!found) return exchange.fail(found.error());
                  exchange.send(
                      200, wire::encode_windows(found->config, found->windows, found->truncated));
                });
}

void preview_burst(SlotService& slots, const Clock& clock, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  const auto document = read_json(request, exchange);
  if (!document) return;
  Result<wire::BurstCall> call = wire::decode_burst_call(document->root());
  if (!call) return exchange.fail(call.error());
  slots.preview(
      {.config = std::move(call->config_name), .requested = call->requested, .count = call->count},
      [exchange = std::move(exchange)](const Result<core::Burst>& burst) mutable {
        if (!burst) return exchange.fail(burst.error());
        exchange.send(200, wire::encode_burst(*burst));
      });
}

// The answer of the routes that give one config.
auto send_config(Exchange&& exchange) {
  return [exchange = std::move(exchange)](Result<core::SlotConfig> config) mutable {
    if (!config) return exchange.fail(config.error());
    wire::JsonWriter out;
    wire::encode_slot_config(out, *config);
    exchange.send(200, std::move(out).take());
  };
}

void get_config(SlotService& slots, const Clock& clock, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  Result<ConfigName> name = config_param(request, "name");
  if (!name) return exchange.fail(name.error());
  slots.get_config(std::move(*name), send_config(std::move(exchange)));
}

void list_configs(SlotService& slots, const Clock& clock, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  Result<Page> page = page_of(request);
  if (!page) return exchange.fail(page.error());
  // One more than asked for tells whether there is a next page.
  slots.list_configs(
      ConfigName::trusted(std::move(page->after)), page->limit + 1,
      [exchange = std::move(exchange),
       limit = page->limit](Result<std::vector<core::SlotConfig>> configs) mutable {
        if (!configs) return exchange.fail(configs.error());
        Response response;
        if (configs->size() > limit) {
          configs->resize(limit);
          response.headers.push_back(next_page_link(kConfigs, limit, configs->back().name.str()));
        }
        wire::JsonWriter out(configs->size() * 192 + 16);  // a config is about 180 bytes
        out.begin_array();
        for (const core::SlotConfig& config : *configs) wire::encode_slot_config(out, config);
        out.end_array();
        response.body = std::move(out).take();
        exchange.send(std::move(response));
      });
}

void put_config(SlotService& slots, const Clock& clock, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  const auto document = read_json(request, exchange);
  if (!document) return;
  Result<core::SlotConfigDraft> draft = wire::decode_slot_config(document->root());
  if (!draft) return exchange.fail(draft.error());
  std::string request_id = exchange.request_id();
  slots.put_config(std::move(*draft), std::move(request_id), send_config(std::move(exchange)));
}

// The body is read once the config in force is known, so the merge takes a copy along.
void patch_config(SlotService& slots, const Clock& clock, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  Result<ConfigName> name = config_param(request, "name");
  if (!name) return exchange.fail(name.error());
  if (!read_json(request, exchange)) return;
  auto merge = [body = std::string(request.body)](
                   const core::SlotConfig& in_force) -> Result<core::SlotConfigDraft> {
    const wire::JsonDocument document = PENSTOCK_TRY(wire::parse_json(body));
    const core::SlotConfigDraft draft = core::draft_of(in_force);
    return wire::decode_slot_config(document.root(), &draft);
  };
  std::string request_id = exchange.request_id();
  slots.patch_config(std::move(*name), std::move(merge), std::move(request_id),
                     send_config(std::move(exchange)));
}

void get_config_history(SlotService& slots, const Clock& clock, const Request& request,
                        Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  Result<ConfigName> name = config_param(request, "name");
  if (!name) return exchange.fail(name.error());
  slots.config_history(
      std::move(*name),
      [exchange = std::move(exchange)](Result<std::vector<core::SlotConfig>> versions) mutable {
        if (!versions) return exchange.fail(versions.error());
        wire::JsonWriter out;
        out.begin_array();
        for (const core::SlotConfig& version : *versions) wire::encode_slot_config(out, version);
        out.end_array();
        exchange.send(200, std::move(out).take());
      });
}

void flush_cache(SlotService& slots, const Clock& clock, const Request& request, Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  std::string request_id = exchange.request_id();
  slots.flush_config_cache(std::move(request_id),
                           [exchange = std::move(exchange)](Result<void> flushed) mutable {
                             if (!flushed) return exchange.fail(flushed.error());
                             exchange.send_empty();
                           });
}

using SlotHandler = void (*)(SlotService&, const Clock&, const Request&, Reply&&);

Handler bound(SlotHandler handler, SlotService& slots, const Clock& clock) {
  return [handler, &slots, &clock](const Request& request, Reply&& reply) {
    handler(slots, clock, request, std::move(reply));
  };
}

}  // namespace

void add_slot_routes(std::vector<Route>& routes, SlotService& slots, const Clock& clock) {
  const auto add = [&](Method method, std::string_view pattern, BodyLimit body,
                       SlotHandler handler) {
    routes.push_back({method, pattern, Access::api, body, bound(handler, slots, clock)});
  };
  add(Method::post, "/api/v1/slots", BodyLimit::single, assign_one);
  add(Method::post, "/api/v1/slots/batch", BodyLimit::batch, assign_batch);
  add(Method::get, "/api/v1/slots/{eventId}", BodyLimit::none, get_slot);
  add(Method::del, "/api/v1/slots/{eventId}", BodyLimit::none, release_slot);
  add(Method::post, "/api/v1/slots/{eventId}/confirm", BodyLimit::none, confirm_slot);
  add(Method::post, "/api/v1/slots/preview", BodyLimit::single, preview_burst);
  add(Method::get, "/api/v1/windows", BodyLimit::none, get_windows);
}

void add_slot_config_routes(std::vector<Route>& routes, SlotService& slots, const Clock& clock) {
  const auto add = [&](Method method, std::string_view pattern, BodyLimit body,
                       SlotHandler handler) {
    routes.push_back({method, pattern, Access::admin, body, bound(handler, slots, clock)});
  };
  add(Method::get, "/admin/rate-limit/config", BodyLimit::none, get_config);
  add(Method::get, kConfigs, BodyLimit::none, list_configs);
  add(Method::post, "/admin/rate-limit/config", BodyLimit::single, put_config);
  add(Method::patch, "/admin/rate-limit/config", BodyLimit::single, patch_config);
  add(Method::get, "/admin/rate-limit/config/history", BodyLimit::none, get_config_history);
  add(Method::post, "/admin/rate-limit/cache/flush", BodyLimit::single, flush_cache);
}

}  // namespace penstock::front
