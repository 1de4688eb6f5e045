#include "front/http/gateway_routes.h"

#include <charconv>
#include <string>
#include <utility>

#include "base/iso8601.h"
#include "front/http/json_routes.h"
#include "front/http/paging.h"
#include "wire/batch.h"
#include "wire/gateway.h"

namespace penstock::front {
namespace {

using service::GatewayService;

constexpr Millis kUsageRange = std::chrono::hours{1};  // when a request does not say
constexpr std::chrono::minutes kBucketMax = std::chrono::days{1};
// Lines of one page of an export: under a megabyte.
constexpr std::size_t kExportLinesMax = 10'000;
constexpr std::size_t kExportLines = 1'000;

struct GatewayRoutes {
  GatewayService& gateway;
  GatewaySentences sentences;
  const Clock& clock;
};

// One request's way back, in the gateway's words.
class Conversation {
 public:
  Conversation(const GatewayRoutes& context, const Request& request, Reply&& reply)
      : exchange_(request, std::move(reply), context.clock), sentences_(context.sentences) {}

  const GatewaySentences& sentences() const noexcept { return sentences_; }
  const std::string& request_id() const noexcept { return exchange_.request_id(); }
  Instant now() const noexcept { return exchange_.now(); }
  Exchange& exchange() noexcept { return exchange_; }
  void send(int status, std::string json) { exchange_.send(status, std::move(json)); }
  void fail(const Error& error) { fail(error, sentences_); }
  void fail(const Error& error, const GatewaySentences& sentences) {
    exchange_.send(gateway_error(sentences, error, exchange_.request_id(), exchange_.now()));
  }
  // For routes where something else than a user is looked for.
  void looks_for(std::string_view not_found) noexcept { sentences_.not_found = not_found; }

 private:
  Exchange exchange_;
  GatewaySentences sentences_;
};

// Nothing when the request was answered. `decode` makes a Result of a JSON value.
template <class Decode>
auto read_body(const Request& request, Conversation& talk, Decode decode) {
  using Decoded = typename std::invoke_result_t<Decode, wire::JsonValue>::value_type;
  std::optional<Decoded> out;
  if (!is_json(request)) {
    talk.exchange().fail(415, "send application/json");
    return out;
  }
  const Result<wire::JsonDocument> document = wire::parse_json(request.body);
  if (!document) {
    talk.fail(document.error());
    return out;
  }
  Result<Decoded> decoded = decode(document->root());
  if (decoded) {
    out = std::move(*decoded);
  } else {
    talk.fail(decoded.error());
  }
  return out;
}

Result<core::UserId> parse_user(std::string_view text) {
  std::int64_t user = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), user);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return invalid_field("userId", "must be a whole number");
  }
  return core::check_user_id(user);
}

std::optional<core::UserId> read_user(const Request& request, Conversation& talk) {
  const Result<core::UserId> user = parse_user(request.params.at(0));
  if (user) return *user;
  talk.fail(user.error());
  return std::nullopt;
}

auto send_config(Conversation&& talk, core::UserId user) {
  return [talk = std::move(talk), user](const Result<core::Quota>& quota) mutable {
    if (!quota) return talk.fail(quota.error());
    talk.send(200, encode_config(user, *quota));
  };
}

void put_config(const GatewayRoutes& context, const Request& request, Reply&& reply) {
  Conversation talk(context, request, std::move(reply));
  const auto call = read_body(request, talk, wire::decode_quota_call);
  if (!call) return;
  std::string request_id = talk.request_id();
  context.gateway.put_config(call->user, call->rule, std::move(request_id),
                             send_config(std::move(talk), call->user));
}

void get_config(const GatewayRoutes& context, const Request& request, Reply&& reply) {
  Conversation talk(context, request, std::move(reply));
  const auto user = read_user(request, talk);
  if (!user) return;
  context.gateway.find_config(*user, send_config(std::move(talk), *user));
}

void delete_config(const GatewayRoutes& context, const Request& request, Reply&& reply) {
  Conversation talk(context, request, std::move(reply));
  const auto user = read_user(request, talk);
  if (!user) return;
  std::string request_id = talk.request_id();
  context.gateway.remove_config(*user, std::move(request_id),
                                [talk = std::move(talk)](const Result<void>& removed) mutable {
                                  if (!removed) return talk.fail(removed.error());
                                  talk.exchange().send_empty();
                                });
}

// What a bus takes along, so that the sender's work is seen as a part of this request.
void add_trace(const Request& request, std::vector<core::SendCall>& calls) {
  const std::string_view trace = request.header(wire::kTraceHeader);
  if (!wire::is_traceparent(trace)) return;
  for (core::SendCall& call : calls) call.trace = trace;
}

void send_one(const GatewayRoutes& context, const Request& request, Reply&& reply) {
  Conversation talk(context, request, std::move(reply));
  auto call = read_body(request, talk, wire::decode_send_call);
  if (!call) return;
  std::vector<core::SendCall> calls;
  calls.push_back(std::move(*call));
  add_trace(request, calls);
  context.gateway.send(std::move(calls),
                       [talk = std::move(talk)](GatewayService::Answers answers) mutable {
                         const Result<store::Sent>& answer = answers.front();
                         if (!answer) return talk.fail(answer.error());
                         if (const auto error = refusal_of(*answer)) {
                           return talk.fail(*error, talk.sentences().about(answer));
                         }
                         talk.send(200, encode_sent(*answer));
                       });
}

struct SendEntry {
  std::optional<std::int64_t> user;  // as far as it could be read
  std::optional<Error> error;
};

struct SendBatch {
  std::vector<SendEntry> entries;
  std::vector<core::SendCall> calls;  // of the entries without error, in order
};

Result<SendBatch> decode_batch(std::string_view body, wire::BatchFormat format) {
  SendBatch batch;
  const Result<void> read =
      wire::for_each_entry(body, format, [&](const Result<wire::JsonValue>& value) {
        SendEntry& entry = batch.entries.emplace_back();
        if (!value) {
          entry.error = value.error();
          return;
        }
        if (value->type() == wire::JsonType::object) {
          const wire::JsonValue user = value->find("userId");
          if (user && user.type() == wire::JsonType::number) entry.user = user.integer();
        }
        Result<core::SendCall> call = wire::decode_send_call(*value);
        if (call) {
          batch.calls.push_back(std::move(*call));
        } else {
          entry.error = std::move(call.error());
        }
      });
  if (!read) return std::unexpected(read.error());
  return batch;
}

void send_batch(const GatewayRoutes& context, const Request& request, Reply&& reply) {
  Conversation talk(context, request, std::move(reply));
  const auto format = batch_format_of(request, talk.exchange());
  if (!format) return;
  Result<SendBatch> batch = decode_batch(request.body, *format);
  if (!batch) return talk.fail(batch.error());
  add_trace(request, batch->calls);
  context.gateway.send(
      std::move(batch->calls), [talk = std::move(talk), entries = std::move(batch->entries)](
                                   const GatewayService::Answers& answers) mutable {
        wire::JsonWriter out(entries.size() * 128 + 16);  // one answer is about 120 bytes
        out.begin_object().key("results").begin_array();
        auto answer = answers.begin();
        for (SendEntry& entry : entries) {
          if (entry.error) {
            encode_send_entry(out, entry.user, std::unexpected(std::move(*entry.error)),
                              talk.sentences());
          } else {
            encode_send_entry(out, entry.user, *answer++, talk.sentences());
          }
        }
        out.end_array().end_object();
        talk.send(200, std::move(out).take());
      });
}

void get_message(const GatewayRoutes& context, const Request& request, Reply&& reply) {
  Conversation talk(context, request, std::move(reply));
  talk.looks_for(kMessageNotFound);
  Result<ItemId> id = ItemId::parse("messageId", request.params.at(0));
  if (!id) return talk.fail(id.error());
  context.gateway.find_message(
      std::move(*id), [talk = std::move(talk)](const Result<service::MessageView>& view) mutable {
        if (!view) return talk.fail(view.error());
        talk.send(200, encode_message(*view));
      });
}

using MessageMove = void (GatewayService::*)(ItemId, std::string,
                                             GatewayService::Done<service::MessageView>);

template <MessageMove move>
void move_message(const GatewayRoutes& context, const Request& request, Reply&& reply) {
  Conversation talk(context, request, std::move(reply));
  talk.looks_for(kMessageNotFound);
  Result<ItemId> id = ItemId::parse("messageId", request.params.at(0));
  if (!id) return talk.fail(id.error());
  (context.gateway.*move)(std::move(*id), request.request_id,
                          [talk = std::move(talk)](Result<service::MessageView> view) mutable {
                            // The seed's sentence for a conflict speaks of idempotency keys.
                            if (!view && view.error().kind == ErrorKind::conflict) {
                              return talk.exchange().fail(view.error());
                            }
                            if (!view) return talk.fail(view.error());
                            talk.send(200, encode_message(*view));
                          });
}

// The value of a query parameter, or none; `parse` makes a Result of its text.
template <class Parse>
auto query_value(const Request& request, std::string_view name, Parse parse)
    -> Result<std::optional<typename std::invoke_result_t<Parse, std::string_view>::value_type>> {
  const Result<std::optional<std::string>> text = request.query_param(name);
  if (!text) return std::unexpected(text.error());
  if (!*text || (*text)->empty()) return std::nullopt;
  auto value = parse(**text);
  if (value) return *value;
  if (!value.error().field.empty()) return std::unexpected(value.error());
  return invalid_field(name, value.error().what);
}

// [from, to): an hour until now when the request does not say.
Result<service::UsageRange> range_of(const Request& request, Instant now) {
  const auto from = query_value(request, "from", parse_instant);
  if (!from) return std::unexpected(from.error());
  const auto to = query_value(request, "to", parse_instant);
  if (!to) return std::unexpected(to.error());
  service::UsageRange range;
  // The running minute is part of it.
  range.to = to->value_or(store::minute_of(now) + core::Minutes{1});
  range.from = from->value_or(range.to - kUsageRange);
  if (range.from >= range.to) return invalid_field("from", "must be before to");
  return range;
}

Result<service::UsageRange> usage_range_of(const Request& request, Instant now) {
  Result<service::UsageRange> range = range_of(request, now);
  if (!range) return range;
  const auto bucket = query_value(request, "bucket", parse_duration);
  if (!bucket) return std::unexpected(bucket.error());
  range->bucket = bucket->value_or(core::Minutes{1});
  if (range->bucket < core::Minutes{1} || range->bucket > kBucketMax ||
      range->bucket % core::Minutes{1} != Millis::zero()) {
    return invalid_field("bucket", "must be whole minutes from PT1M to P1D");
  }
  if ((range->to - range->from) / range->bucket > std::int64_t{service::kUsagePointsMax}) {
    return invalid_field("bucket", "makes more than " + std::to_string(service::kUsagePointsMax) +
                                       " points; ask for less time or larger buckets");
  }
  return range;
}

void get_usage(const GatewayRoutes& context, const Request& request, Reply&& reply) {
  Conversation talk(context, request, std::move(reply));
  const auto user = query_value(request, "userId", parse_user);
  if (!user) return talk.fail(user.error());
  if (!*user) return talk.fail(invalid_field("userId", "is missing").error());
  const Result<service::UsageRange> range = usage_range_of(request, talk.now());
  if (!range) return talk.fail(range.error());
  context.gateway.usage(**user, *range,
                        [talk = std::move(talk), user = **user, bucket = range->bucket](
                            const Result<service::UsageBuckets>& buckets) mutable {
                          if (!buckets) return talk.fail(buckets.error());
                          talk.send(200, encode_usage(user, bucket, *buckets));
                        });
}

// "2026-11-16T12:00:00Z,101": the `at` and the `userId` of the last line of the page before.
Result<store::UsageMark> parse_mark(std::string_view text) {
  const std::size_t comma = text.find(',');
  const auto wrong = [] {
    return invalid_field("after", "must be the at and the userId of a line, with a comma between");
  };
  if (comma == std::string_view::npos) return wrong();
  const Result<Instant> minute = parse_instant(text.substr(0, comma));
  const Result<core::UserId> user = parse_user(text.substr(comma + 1));
  if (!minute || !user) return wrong();
  return store::UsageMark{.minute = *minute, .user = *user};
}

Result<std::int64_t> parse_export_limit(std::string_view text) {
  std::int64_t limit = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (error == std::errc{} && end == text.data() + text.size() && limit >= 1 &&
      limit <= std::int64_t{kExportLinesMax}) {
    return limit;
  }
  return invalid_field("limit", "must be from 1 to " + std::to_string(kExportLinesMax));
}

// "1731672000000000-815": the `id` of the last line of the page before.
Result<store::AttemptMark> parse_attempt_mark(std::string_view text) {
  std::int64_t at = 0;
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto time = std::from_chars(text.data(), end, at);
  if (time.ec == std::errc{} && time.ptr != end && *time.ptr == '-' && at >= 0) {
    const auto rest = std::from_chars(time.ptr + 1, end, number);
    if (rest.ec == std::errc{} && rest.ptr == end && number >= 0) {
      return store::AttemptMark{.at = Instant{Micros{at}}, .number = number};
    }
  }
  return invalid_field("after", "must be the id of a line");
}

void send_lines(Conversation& talk, std::string lines) {
  Response response;
  response.body = std::move(lines);
  response.content_type = "application/x-ndjson";
  talk.exchange().send(std::move(response));
}

// What to ask a store for, as a page of NDJSON.
template <class Mark>
struct LinesAsked {
  service::UsageRange range;
  std::optional<Mark> after;
  std::size_t limit = kExportLines;
};

template <class Parse>
auto lines_asked(const Request& request, Instant now, Parse parse)
    -> Result<LinesAsked<typename std::invoke_result_t<Parse, std::string_view>::value_type>> {
  LinesAsked<typename std::invoke_result_t<Parse, std::string_view>::value_type> asked;
  const Result<service::UsageRange> range = range_of(request, now);
  if (!range) return std::unexpected(range.error());
  asked.range = *range;
  const auto after = query_value(request, "after", parse);
  if (!after) return std::unexpected(after.error());
  asked.after = *after;
  const auto limit = query_value(request, "limit", parse_export_limit);
  if (!limit) return std::unexpected(limit.error());
  asked.limit = static_cast<std::size_t>(limit->value_or(std::int64_t{kExportLines}));
  return asked;
}

void get_attempts(const GatewayRoutes& context, const Request& request, Reply&& reply) {
  Conversation talk(context, request, std::move(reply));
  const auto asked = lines_asked(request, talk.now(), parse_attempt_mark);
  if (!asked) return talk.fail(asked.error());
  context.gateway.export_attempts(
      asked->range.from, asked->range.to, asked->after, asked->limit,
      [talk = std::move(talk)](const Result<std::vector<store::Attempt>>& attempts) mutable {
        if (!attempts) return talk.fail(attempts.error());
        send_lines(talk, encode_attempt_lines(*attempts));
      });
}

// One page of NDJSON. It is bounded, so that an export of any size costs little memory here; who
// wants the next page says where this one ended.
void get_export(const GatewayRoutes& context, const Request& request, Reply&& reply) {
  Conversation talk(context, request, std::move(reply));
  const auto asked = lines_asked(request, talk.now(), parse_mark);
  if (!asked) return talk.fail(asked.error());
  context.gateway.export_usage(
      asked->range.from, asked->range.to, asked->after, asked->limit,
      [talk = std::move(talk)](const Result<std::vector<store::UserMinute>>& minutes) mutable {
        if (!minutes) return talk.fail(minutes.error());
        send_lines(talk, encode_usage_lines(*minutes));
      });
}

void get_top_limited(const GatewayRoutes& context, const Request& request, Reply&& reply) {
  Conversation talk(context, request, std::move(reply));
  const Result<service::UsageRange> range = range_of(request, talk.now());
  if (!range) return talk.fail(range.error());
  const Result<Page> page = page_of(request);
  if (!page) return talk.fail(page.error());
  context.gateway.top_limited(
      range->from, range->to, page->limit,
      [talk = std::move(talk)](const Result<std::vector<store::LimitedUser>>& users) mutable {
        if (!users) return talk.fail(users.error());
        talk.send(200, encode_top_limited(*users));
      });
}

}  // namespace

void add_gateway_routes(std::vector<Route>& routes, GatewayService& gateway,
                        const GatewaySentences& sentences, const Clock& clock) {
  const auto add = [&](Method method, std::string_view pattern, Access access, BodyLimit body,
                       auto* handler) {
    routes.push_back({method, pattern, access, body,
                      [handler, context = GatewayRoutes{gateway, sentences, clock}](
                          const Request& request, Reply&& reply) {
                        handler(context, request, std::move(reply));
                      }});
  };
  add(Method::post, "/api/config", Access::admin, BodyLimit::single, put_config);
  add(Method::get, "/api/config/{userId}", Access::admin, BodyLimit::none, get_config);
  add(Method::del, "/api/config/{userId}", Access::admin, BodyLimit::none, delete_config);
  add(Method::post, "/api/send", Access::api, BodyLimit::single, send_one);
  add(Method::post, "/api/send/batch", Access::api, BodyLimit::batch, send_batch);
  add(Method::get, "/api/messages/{messageId}", Access::api, BodyLimit::none, get_message);
  add(Method::post, "/api/messages/{messageId}/cancel", Access::api, BodyLimit::none,
      move_message<&GatewayService::cancel_message>);
  add(Method::post, "/api/messages/{messageId}/redrive", Access::api, BodyLimit::none,
      move_message<&GatewayService::redrive_message>);
  add(Method::get, "/api/analytics/usage", Access::api, BodyLimit::none, get_usage);
  add(Method::get, "/api/analytics/export", Access::api, BodyLimit::none, get_export);
  add(Method::get, "/api/analytics/attempts", Access::api, BodyLimit::none, get_attempts);
  add(Method::get, "/api/analytics/top-limited", Access::api, BodyLimit::none, get_top_limited);
}

}  // namespace penstock::front
