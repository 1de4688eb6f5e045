#include "front/http/throttle_routes.h"

#include <optional>
#include <string>
#include <utility>

#include "front/http/json_routes.h"
#include "front/http/throttle_answer.h"
#include "wire/throttle.h"

namespace penstock::front {
namespace {

using service::ThrottleService;

void check_one(ThrottleService& throttle, const Clock& clock, const Request& request,
               Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  const std::optional<wire::JsonDocument> document = read_json(request, exchange);
  if (!document) return;
  const Result<core::ThrottleCall> call = wire::decode_throttle_call(document->root());
  if (!call) return exchange.fail(call.error());
  throttle.ask(*call, [exchange = std::move(exchange)](
                          Result<void> decided, const core::ThrottleDecision& decision) mutable {
    if (!decided) return exchange.fail(decided.error());
    // Only a denial shows the time.
    const Instant now = decision.allowed ? Instant{} : exchange.now();
    exchange.send(throttle_response(decision, 429, exchange.request_id(), now));
  });
}

// An entry of a batch: its key outlives the line of NDJSON that it stood in.
struct BatchEntry {
  std::string key;  // as far as it could be read
  std::int64_t cost = 1;
  std::optional<Error> error;
};

BatchEntry decode_entry(const Result<wire::JsonValue>& value) {
  if (!value) return {.error = value.error()};
  Result<core::ThrottleCall> call = wire::decode_throttle_entry(*value);
  if (call) return {.key = std::string(call->keys[0]), .cost = call->cost};
  BatchEntry entry{.error = std::move(call.error())};
  const wire::JsonValue key = value->find("key");
  if (key && key.type() == wire::JsonType::string) entry.key = key.string();
  return entry;
}

void encode_failure(wire::JsonWriter& out, std::string_view key, const Error& error) {
  const int status = wire::status_of(error.kind);
  out.begin_object()
      .member("key", key)
      .member("status", status)
      .member("error", wire::reason_of(status))
      .member("message", error.what);
  if (!error.field.empty()) out.member("field", error.field);
  out.end_object();
}

std::string encode_batch(const std::vector<BatchEntry>& batch,
                         ThrottleService::KeyDecisions decisions) {
  wire::JsonWriter out(batch.size() * 144 + 16);  // one answer is about 140 bytes
  out.begin_object().key("results").begin_array();
  auto decision = decisions.begin();
  for (const BatchEntry& entry : batch) {
    if (entry.error) {
      encode_failure(out, entry.key, *entry.error);
    } else if (const auto& given = *decision++; given) {
      wire::encode_key_decision(out, *given);
    } else {
      encode_failure(out, entry.key, given.error());
    }
  }
  out.end_array().end_object();
  return std::move(out).take();
}

void check_batch(ThrottleService& throttle, const Clock& clock, const Request& request,
                 Reply&& reply) {
  Exchange exchange(request, std::move(reply), clock);
  const auto format = batch_format_of(request, exchange);
  if (!format) return;
  std::vector<BatchEntry> batch;
  const Result<void> read = wire::for_each_entry(
      request.body, *format,
      [&](const Result<wire::JsonValue>& value) { batch.push_back(decode_entry(value)); });
  if (!read) return exchange.fail(read.error());
  std::vector<service::ThrottleEntry> entries;
  entries.reserve(batch.size());
  for (const BatchEntry& entry : batch) {
    if (!entry.error) entries.push_back({.key = entry.key, .cost = entry.cost});
  }
  // The entries stay where they are when their vector moves.
  throttle.ask_batch(entries, [exchange = std::move(exchange), batch = std::move(batch)](
                                  ThrottleService::KeyDecisions decisions) mutable {
    exchange.send(200, encode_batch(batch, decisions));
  });
}

}  // namespace

void add_throttle_routes(std::vector<Route>& routes, ThrottleService& throttle,
                         const Clock& clock) {
  const auto add = [&](std::string_view pattern, BodyLimit body, auto* handler) {
    routes.push_back({Method::post, pattern, Access::api, body,
                      [handler, &throttle, &clock](const Request& request, Reply&& reply) {
                        handler(throttle, clock, request, std::move(reply));
                      }});
  };
  add("/api/v1/throttle/check", BodyLimit::single, check_one);
  add("/api/v1/throttle/check/batch", BodyLimit::batch, check_batch);
}

}  // namespace penstock::front
