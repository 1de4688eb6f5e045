// The routes of slots and their configs: /api/v1/slots, /api/v1/windows, /admin/rate-limit.
#include <string>
#include <utility>

#include "base/iso8601.h"
#include "front/http/routes/exchange.h"
#include "front/http/routes/routes.h"
#include "wire/slots.h"

namespace penstock::front {
namespace {

using service::SlotService;

// A day of 4-second windows is 21,600; this many are about 7 MB of JSON.
constexpr std::size_t kWindowsMax = 100'000;
constexpr Millis kWindowsSpanDefault = std::chrono::hours{1};

Result<void> assign_one(SlotService& slots, const Request& request, Exchange& exchange) {
  core::SlotCall call = PENSTOCK_TRY(read_body(request, exchange, wire::decode_slot_call));
  std::vector<core::SlotCall> calls;
  calls.push_back(std::move(call));
  std::string request_id = exchange.request_id();
  slots.assign(std::move(calls), std::move(request_id),
               [give = sends(std::move(exchange), wire::encode_assignment)](
                   const SlotService::Assigned& answers) mutable { give(answers.front()); });
  return {};
}

Result<void> assign_batch(SlotService& slots, const Request& request, Exchange& exchange) {
  const auto format = PENSTOCK_TRY(batch_format_of(request, exchange));
  auto batch = PENSTOCK_TRY(
      decode_entries<core::SlotCall>(request.body, format, "eventId", wire::decode_slot_call));
  std::string request_id = exchange.request_id();
  slots.assign(std::move(batch.calls), std::move(request_id),
               [exchange = std::move(exchange),
                entries = std::move(batch.entries)](const SlotService::Assigned& answers) mutable {
                 exchange.send(200,
                               encode_results(entries, answers, "eventId",
                                              [](wire::JsonWriter& out, std::string_view /*id*/,
                                                 const core::Slot& given) {
                                                wire::encode_assignment(out, given);
                                              }));
               });
  return {};
}

Result<void> get_slot(SlotService& slots, const Request& request, Exchange& exchange) {
  auto event = PENSTOCK_TRY(path_id<EventId>(request, 0, "eventId"));
  slots.find(std::move(event), [exchange = std::move(exchange)](
                                   const Result<std::optional<core::Slot>>& slot) mutable {
    if (!slot) return exchange.fail(slot.error());
    if (!*slot) return exchange.fail(404, "this event has no slot");
    exchange.send(200, json_of(wire::encode_slot, **slot));
  });
  return {};
}

Result<void> confirm_slot(SlotService& slots, const Request& request, Exchange& exchange) {
  auto event = PENSTOCK_TRY(path_id<EventId>(request, 0, "eventId"));
  std::string request_id = exchange.request_id();
  slots.confirm(std::move(event), std::move(request_id),
                sends(std::move(exchange), wire::encode_slot));
  return {};
}

Result<void> release_slot(SlotService& slots, const Request& request, Exchange& exchange) {
  auto event = PENSTOCK_TRY(path_id<EventId>(request, 0, "eventId"));
  std::string request_id = exchange.request_id();
  slots.release(std::move(event), std::move(request_id), sends_nothing(std::move(exchange)));
  return {};
}

// The empty name (= the default config) when the parameter is absent.
Result<ConfigName> config_param(const Request& request, std::string_view name) {
  auto config = PENSTOCK_TRY(query_value(
      request, name, [&](std::string_view text) { return ConfigName::parse(name, text); }));
  return std::move(config).value_or(ConfigName{});
}

Result<void> get_windows(SlotService& slots, const Request& request, Exchange& exchange) {
  auto config = PENSTOCK_TRY(config_param(request, "config"));
  const auto from = PENSTOCK_TRY(query_value(request, "from", parse_instant));
  const auto to = PENSTOCK_TRY(query_value(request, "to", parse_instant));
  const Instant begin = from.value_or(cut_to_millis(exchange.now()));
  const Instant end = to.value_or(begin + kWindowsSpanDefault);
  if (end < begin) return invalid_field("to", "must not be before from");
  slots.windows(std::move(config), begin, end, kWindowsMax,
                sends(std::move(exchange), [](const service::Windows& found) {
                  return wire::encode_windows(found.config, found.windows, found.truncated);
                }));
  return {};
}

Result<void> preview_burst(SlotService& slots, const Request& request, Exchange& exchange) {
  auto call = PENSTOCK_TRY(read_body(request, exchange, wire::decode_burst_call));
  slots.preview(
      {.config = std::move(call.config_name), .requested = call.requested, .count = call.count},
      sends(std::move(exchange), wire::encode_burst));
  return {};
}

Result<void> get_slot_config(SlotService& slots, const Request& request, Exchange& exchange) {
  auto name = PENSTOCK_TRY(config_param(request, "name"));
  slots.get_config(std::move(name), sends(std::move(exchange), wire::encode_slot_config));
  return {};
}

Result<void> list_slot_configs(SlotService& slots, const Request& request, Exchange& exchange) {
  Page page = PENSTOCK_TRY(page_of(request));
  slots.list_configs(
      ConfigName::trusted(std::move(page.after)), page.limit + 1,
      sends_page(std::move(exchange), std::string(wire::route("listSlotConfigs").pattern),
                 page.limit, wire::encode_slot_config,
                 [](const core::SlotConfig& last) { return last.name.str(); }));
  return {};
}

Result<void> put_slot_config(SlotService& slots, const Request& request, Exchange& exchange) {
  auto draft = PENSTOCK_TRY(read_body(
      request, exchange, [](wire::JsonValue value) { return wire::decode_slot_config(value); }));
  std::string request_id = exchange.request_id();
  slots.put_config(std::move(draft), std::move(request_id),
                   sends(std::move(exchange), wire::encode_slot_config));
  return {};
}

// The body is read once the config in force is known, so the merge takes a copy along.
Result<void> patch_slot_config(SlotService& slots, const Request& request, Exchange& exchange) {
  auto name = PENSTOCK_TRY(config_param(request, "name"));
  PENSTOCK_TRY(read_json(request, exchange));
  auto merge = [body = std::string(request.body)](
                   const core::SlotConfig& in_force) -> Result<core::SlotConfigDraft> {
    const wire::JsonDocument document = PENSTOCK_TRY(wire::parse_json(body));
    const core::SlotConfigDraft draft = core::draft_of(in_force);
    return wire::decode_slot_config(document.root(), &draft);
  };
  std::string request_id = exchange.request_id();
  slots.patch_config(std::move(name), std::move(merge), std::move(request_id),
                     sends(std::move(exchange), wire::encode_slot_config));
  return {};
}

Result<void> get_slot_config_history(SlotService& slots, const Request& request,
                                     Exchange& exchange) {
  auto name = PENSTOCK_TRY(config_param(request, "name"));
  slots.config_history(std::move(name), sends_list(std::move(exchange), wire::encode_slot_config));
  return {};
}

Result<void> flush_cache(SlotService& slots, const Request& /*request*/, Exchange& exchange) {
  std::string request_id = exchange.request_id();
  slots.flush_config_cache(std::move(request_id), sends_nothing(std::move(exchange)));
  return {};
}

}  // namespace

void add_slot_routes(std::vector<Route>& routes, SlotService& slots, const Clock& clock) {
  const Binder<SlotService&> bind(routes, slots, clock);
  bind(wire::route("assignSlot"), assign_one);
  bind(wire::route("assignSlots"), assign_batch);
  bind(wire::route("getSlot"), get_slot);
  bind(wire::route("releaseSlot"), release_slot);
  bind(wire::route("confirmSlot"), confirm_slot);
  bind(wire::route("previewSlots"), preview_burst);
  bind(wire::route("listWindows"), get_windows);
  bind(wire::route("getSlotConfig"), get_slot_config);
  bind(wire::route("listSlotConfigs"), list_slot_configs);
  bind(wire::route("putSlotConfig"), put_slot_config);
  bind(wire::route("changeSlotConfig"), patch_slot_config);
  bind(wire::route("getSlotConfigHistory"), get_slot_config_history);
  bind(wire::route("flushSlotConfigs"), flush_cache);
}

}  // namespace penstock::front
