// The routes of the HTTP API, each declared once. The daemon binds a handler to every row and does
// not start without one; the router, `GET /admin/routes`, the description of the API and the
// commands of the client come from this table. Prose and examples stand in docs/openapi.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/describe.h"
#include "wire/http/message.h"

namespace penstock::wire {

// Which token opens a route.
enum class Access : std::uint8_t {
  everyone,  // no token, wherever it comes from: what holds no data (the console's own files)
  open,      // no token on loopback or when configured so (health, metrics)
  api,       // the api token or the admin token, when an api token is set
  admin,     // the admin token, when one is set
};

enum class BodyLimit : std::uint8_t {
  none,    // a small body (up to kUnusedBodyBytesMax) is read and dropped
  single,  // HttpLimits::body_bytes
  batch,   // HttpLimits::batch_body_bytes
  item,    // HttpLimits::item_body_bytes
};

std::string_view to_string(Access access) noexcept;
std::string_view to_string(BodyLimit limit) noexcept;

struct RouteInfo {
  std::string_view id;  // of the operation, "assignSlot"; the same in every table
  Method method = Method::get;
  // "/api/v1/slots/{eventId}"; a {name} is one segment, a literal wins over it
  std::string_view pattern;
  Access access = Access::api;
  BodyLimit body = BodyLimit::none;
  // What a token must be for, `<area>:read|write|admin`; empty where `access` says all.
  std::string_view scope = {};
  std::string_view summary = {};        // one sentence, without its full stop
  const RecordInfo* request = nullptr;  // the body, where its record is described
  const RecordInfo* answer = nullptr;   // the same of the answer, or of each entry of a list
  // Tokens are judged by the scope: one that lacks it is told so (403), not that it is no token.
  // The admin token has every scope, the api token none; a token of either kind guards the route.
  bool by_scope = false;
  // A proxy asks here about somebody else's request and repeats its headers: they say nothing about
  // who calls us.
  bool speaks_for_others = false;
};

namespace route_table {

using enum Method;
using enum Access;
using enum BodyLimit;

consteval RouteInfo by_scope(RouteInfo row) {
  row.by_scope = true;
  return row;
}
consteval RouteInfo takes(const RecordInfo& record, RouteInfo row) {
  row.request = &record;
  return row;
}
consteval RouteInfo gives(const RecordInfo& record, RouteInfo row) {
  row.answer = &record;
  return row;
}
consteval RouteInfo filter(std::string_view id, Method method) {
  return {.id = id,
          .method = method,
          .pattern = "/throttle/filter",
          .scope = "throttle:write",
          .summary = "May this request pass the proxy?",
          .speaks_for_others = true};
}

// clang-format off
inline constexpr auto kRows = std::to_array<RouteInfo>({
    // Slots.
    {"assignSlot", post, "/api/v1/slots", api, single, "slots:write",
     "Give an event its slot"},
    {"assignSlots", post, "/api/v1/slots/batch", api, batch, "slots:write",
     "Give many events their slots"},
    {"getSlot", get, "/api/v1/slots/{eventId}", api, none, "slots:read",
     "The slot of an event"},
    {"releaseSlot", del, "/api/v1/slots/{eventId}", api, none, "slots:write",
     "Give a slot back"},
    {"confirmSlot", post, "/api/v1/slots/{eventId}/confirm", api, none, "slots:write",
     "Confirm a slot"},
    {"previewSlots", post, "/api/v1/slots/preview", api, single, "slots:read",
     "Where so many events would land"},
    {"listWindows", get, "/api/v1/windows", api, none, "slots:read",
     "How full the windows are"},
    {"getSlotConfig", get, "/admin/rate-limit/config", admin, none, "slots:read",
     "A slot config"},
    {"listSlotConfigs", get, "/admin/rate-limit/configs", admin, none, "slots:read",
     "All slot configs"},
    {"putSlotConfig", post, "/admin/rate-limit/config", admin, single, "slots:admin",
     "Create or change a slot config"},
    {"changeSlotConfig", patch, "/admin/rate-limit/config", admin, single, "slots:admin",
     "Change a slot config"},
    {"getSlotConfigHistory", get, "/admin/rate-limit/config/history", admin, none, "slots:read",
     "All versions of a slot config"},
    {"flushSlotConfigs", post, "/admin/rate-limit/cache/flush", admin, none, "slots:admin",
     "Forget the cached configs"},

    // Throttle.
    {"checkThrottle", post, "/api/v1/throttle/check", api, single, "throttle:write",
     "May this pass?"},
    {"checkThrottles", post, "/api/v1/throttle/check/batch", api, batch, "throttle:write",
     "May these pass?"},
    filter("filterGet", get), filter("filterHead", head), filter("filterPost", post),
    filter("filterPut", put), filter("filterPatch", patch), filter("filterDelete", del),
    filter("filterOptions", options),
    {"listPolicies", get, "/admin/policies", admin, none, "throttle:read",
     "All policies"},
    {"createPolicy", post, "/admin/policies", admin, single, "throttle:admin",
     "Create a policy"},
    {"getPolicy", get, "/admin/policies/{key}", admin, none, "throttle:read",
     "A policy"},
    {"replacePolicy", put, "/admin/policies/{key}", admin, single, "throttle:admin",
     "Replace a policy"},
    {"changePolicy", patch, "/admin/policies/{key}", admin, single, "throttle:admin",
     "Change a policy"},
    {"deletePolicy", del, "/admin/policies/{key}", admin, none, "throttle:admin",
     "Delete a policy"},
    {"getPolicyHistory", get, "/admin/policies/{key}/history", admin, none, "throttle:read",
     "All versions of a policy"},
    {"listKeyMetrics", get, "/admin/metrics", admin, none, "throttle:read",
     "Totals, and the keys in use"},
    {"getKeyMetrics", get, "/admin/metrics/{key}", admin, none, "throttle:read",
     "The usage of a key"},
    {"listTopDenied", get, "/admin/throttle/top-denied", admin, none, "throttle:read",
     "The keys that were denied most"},
    {"resetKey", post, "/admin/reset/{key}", admin, none, "throttle:write",
     "Forget the usage of a key"},

    // Dispatch.
    {"enqueueItem", post, "/api/v1/dispatch/{itemType}", api, item, "dispatch:write",
     "Schedule an item"},
    {"listDeadItems", get, "/api/v1/dispatch/{itemType}", api, none, "dispatch:read",
     "The dead items of a type"},
    {"enqueueItems", post, "/api/v1/dispatch/{itemType}/batch", api, batch, "dispatch:write",
     "Schedule many items"},
    {"summarizeItems", get, "/api/v1/dispatch/{itemType}/summary", api, none, "dispatch:read",
     "How the queue of a type stands"},
    {"getItem", get, "/api/v1/dispatch/{itemType}/{itemId}", api, none, "dispatch:read",
     "An item and what happened to it"},
    {"cancelItem", del, "/api/v1/dispatch/{itemType}/{itemId}", api, none, "dispatch:write",
     "Cancel an item"},
    {"redriveItem", post, "/api/v1/dispatch/{itemType}/{itemId}/redrive", api, none,
     "dispatch:write", "Try a dead item again"},
    {"listItemTypes", get, "/admin/dispatch/types", admin, none, "dispatch:read",
     "All item types"},
    {"getItemType", get, "/admin/dispatch/types/{itemType}", admin, none, "dispatch:read",
     "An item type"},
    {"putItemType", put, "/admin/dispatch/types/{itemType}", admin, single, "dispatch:admin",
     "Create or replace an item type"},
    {"patchItemType", patch, "/admin/dispatch/types/{itemType}", admin, single, "dispatch:admin",
     "Change some settings of an item type"},
    {"getItemTypeHistory", get, "/admin/dispatch/types/{itemType}/history", admin, none,
     "dispatch:read", "All changes of an item type"},

    // Payments.
    {"takePayment", post, "/api/v1/payments", api, item, "payments:submit",
     "Schedule a payment"},
    {"listPayments", get, "/api/v1/payments", api, none, "payments:read",
     "Payments in the order of their ids"},
    {"takePayments", post, "/api/v1/payments/batch", api, batch, "payments:submit",
     "Schedule many payments"},
    {"getPayment", get, "/api/v1/payments/{paymentId}", api, none, "payments:read",
     "A payment and what happened to it"},
    by_scope({"releasePayment", post, "/api/v1/payments/{paymentId}/release", admin, none,
              "payments:release", "Let a held payment go"}),
    by_scope({"reportPayment", post, "/api/v1/payments/{paymentId}/status", admin, single,
              "payments:report", "Report how the execution goes"}),
    {"cancelPayment", post, "/api/v1/payments/{paymentId}/cancel", api, none, "payments:write",
     "Cancel a payment that waits in the queue"},
    {"redrivePayment", post, "/api/v1/payments/{paymentId}/redrive", api, none, "payments:write",
     "Try a failed payment again"},
    {"getPaymentRules", get, "/admin/payments/rules", admin, none, "payments:read",
     "The rules"},
    {"putPaymentRules", put, "/admin/payments/rules", admin, single, "payments:admin",
     "Replace the rules"},

    // Gateway.
    {"putQuota", post, "/api/config", admin, single, "gateway:admin",
     "Set what a user may send"},
    {"getQuota", get, "/api/config/{userId}", admin, none, "gateway:read",
     "What a user may send, and has"},
    {"deleteQuota", del, "/api/config/{userId}", admin, none, "gateway:admin",
     "Forget the quota of a user"},
    {"sendMessage", post, "/api/send", api, single, "gateway:write",
     "Send a message"},
    {"sendMessages", post, "/api/send/batch", api, batch, "gateway:write",
     "Send many messages"},
    {"getMessage", get, "/api/messages/{messageId}", api, none, "gateway:read",
     "How far a message is"},
    {"cancelMessage", post, "/api/messages/{messageId}/cancel", api, none, "gateway:write",
     "Cancel a message that waits to be sent"},
    {"redriveMessage", post, "/api/messages/{messageId}/redrive", api, none, "gateway:write",
     "Try a failed message again"},
    {"getUsage", get, "/api/analytics/usage", api, none, "gateway:read",
     "What a user sent"},
    {"exportUsage", get, "/api/analytics/export", api, none, "gateway:read",
     "What all users sent, as NDJSON"},
    {"exportAttempts", get, "/api/analytics/attempts", api, none, "gateway:read",
     "Every attempt to send, as NDJSON"},
    {"listTopLimited", get, "/api/analytics/top-limited", api, none, "gateway:read",
     "Who was refused most"},

    // The daemon itself.
    {"getStatus", get, "/admin/status", admin, none, "",
     "The daemon in a few words"},
    {"listRoutes", get, "/admin/routes", admin, none, "",
     "The route table"},
    {"watch", get, "/admin/events", admin, none, "",
     "The live stream"},
    {"getLive", get, "/health/live", open, none, "",
     "Does the process serve?"},
    {"getReady", get, "/health/ready", open, none, "",
     "Can it do its work?"},
    {"getMetrics", get, "/metrics", open, none, "",
     "Metrics for Prometheus"},
    {"getMetricsAlias", get, "/q/metrics", open, none, "",
     "Metrics for Prometheus, at the path of the older systems"},
    {"getConsole", get, "/", everyone, none, "",
     "The console"},
    {"getConsoleFile", get, "/assets/{file}", everyone, none, "",
     "A file of the console"},
    {"getIcon", get, "/favicon.svg", everyone, none, "",
     "The icon of the console"},
    {"getDescription", get, "/openapi.json", everyone, none, "",
     "This document"},
    {"getReference", get, "/docs", everyone, none, "",
     "This document as a page"},
    {"getReferenceStyle", get, "/docs/reference.css", everyone, none, "",
     "Its style"},
    {"getReferenceScript", get, "/docs/reference.js", everyone, none, "",
     "Its search"},
});
// clang-format on

}  // namespace route_table

inline constexpr const auto& kRoutes = route_table::kRows;

// The row of an operation. An id that is in no row does not compile.
consteval const RouteInfo& route(std::string_view id) {
  for (const RouteInfo& row : kRoutes) {
    if (row.id == id) return row;
  }
  throw "no route has this id";
}

}  // namespace penstock::wire
