// The routes of the gateway: /api/config, /api/send, /api/messages, /api/analytics.
#include <charconv>
#include <string>
#include <utility>

#include "base/iso8601.h"
#include "front/http/routes/exchange.h"
#include "front/http/routes/routes.h"
#include "wire/gateway.h"

namespace penstock::front {
namespace {

using service::GatewayService;

constexpr Millis kUsageRange = std::chrono::hours{1};  // when a request does not say
constexpr std::chrono::minutes kBucketMax = std::chrono::days{1};
// Lines of one page of an export: under a megabyte.
constexpr std::size_t kExportLinesMax = 10'000;
constexpr std::size_t kExportLines = 1'000;

struct Gateway {
  GatewayService& service;
  GatewaySentences sentences;
};

// One request's way back, in the gateway's words.
class Conversation : public Exchange {
 public:
  Conversation(const Gateway& context, Exchange&& exchange)
      : Exchange(std::move(exchange)), sentences_(context.sentences) {}

  const GatewaySentences& sentences() const noexcept { return sentences_; }
  void fail(const Error& error) { fail(error, sentences_); }
  void fail(const Error& error, const GatewaySentences& sentences) {
    if (refused()) return Exchange::fail(error);
    send(gateway_error(sentences, error, request_id(), now()));
  }
  // For routes where something else than a user is looked for.
  void looks_for(std::string_view not_found) noexcept { sentences_.not_found = not_found; }

 private:
  GatewaySentences sentences_;
};

Result<std::int64_t> parse_whole(std::string_view name, std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size()) return number;
  return invalid_field(name, "must be a whole number");
}

Result<core::UserId> parse_user(std::string_view text) {
  const std::int64_t user = PENSTOCK_TRY(parse_whole("userId", text));
  return core::check_user_id(user);
}

Result<core::UserId> path_user(const Request& request) { return parse_user(request.params.at(0)); }

auto sends_quota(Conversation&& talk, core::UserId user) {
  return sends(std::move(talk),
               [user](const core::Quota& quota) { return encode_config(user, quota); });
}

Result<void> put_quota(const Gateway& context, const Request& request, Conversation& talk) {
  const auto call = PENSTOCK_TRY(read_body(request, talk, wire::decode_quota_call));
  std::string request_id = talk.request_id();
  context.service.put_config(call.user, call.rule, std::move(request_id),
                             sends_quota(std::move(talk), call.user));
  return {};
}

Result<void> get_quota(const Gateway& context, const Request& request, Conversation& talk) {
  const core::UserId user = PENSTOCK_TRY(path_user(request));
  context.service.find_config(user, sends_quota(std::move(talk), user));
  return {};
}

Result<void> delete_quota(const Gateway& context, const Request& request, Conversation& talk) {
  const core::UserId user = PENSTOCK_TRY(path_user(request));
  std::string request_id = talk.request_id();
  context.service.remove_config(user, std::move(request_id), sends_nothing(std::move(talk)));
  return {};
}

// What a bus takes along, so that the sender's work is seen as a part of this request.
void add_trace(const Request& request, std::vector<core::SendCall>& calls) {
  const std::string_view trace = request.header(wire::kTraceHeader);
  if (!wire::is_traceparent(trace)) return;
  for (core::SendCall& call : calls) call.trace = trace;
}

Result<void> send_one(const Gateway& context, const Request& request, Conversation& talk) {
  core::SendCall call = PENSTOCK_TRY(read_body(request, talk, wire::decode_send_call));
  std::vector<core::SendCall> calls;
  calls.push_back(std::move(call));
  add_trace(request, calls);
  context.service.send(std::move(calls),
                       [talk = std::move(talk)](const GatewayService::Answers& answers) mutable {
                         const Result<store::Sent>& answer = answers.front();
                         if (!answer) return talk.fail(answer.error());
                         if (const auto error = refusal_of(*answer)) {
                           return talk.fail(*error, talk.sentences().about(answer));
                         }
                         talk.send(200, encode_sent(*answer));
                       });
  return {};
}

struct SendEntry {
  std::optional<std::int64_t> user;  // as far as it could be read
  std::optional<Error> error;
};

struct SendBatch {
  std::vector<SendEntry> entries;
  std::vector<core::SendCall> calls;  // of the entries without error, in order
};

Result<SendBatch> decode_sends(std::string_view body, wire::BatchFormat format) {
  SendBatch batch;
  PENSTOCK_TRY(wire::for_each_entry(body, format, [&](const Result<wire::JsonValue>& value) {
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
  }));
  return batch;
}

Result<void> send_batch(const Gateway& context, const Request& request, Conversation& talk) {
  const auto format = PENSTOCK_TRY(batch_format_of(request, talk));
  SendBatch batch = PENSTOCK_TRY(decode_sends(request.body, format));
  add_trace(request, batch.calls);
  context.service.send(
      std::move(batch.calls), [talk = std::move(talk), entries = std::move(batch.entries)](
                                  const GatewayService::Answers& answers) mutable {
        wire::JsonWriter out(entries.size() * kEntryBytes + 16);
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
  return {};
}

Result<ItemId> path_message(const Request& request, Conversation& talk) {
  talk.looks_for(kMessageNotFound);
  return path_id<ItemId>(request, 0, "messageId");
}

Result<void> get_message(const Gateway& context, const Request& request, Conversation& talk) {
  ItemId id = PENSTOCK_TRY(path_message(request, talk));
  context.service.find_message(std::move(id), sends(std::move(talk), encode_message));
  return {};
}

using MessageMove = void (GatewayService::*)(ItemId, std::string,
                                             GatewayService::Done<service::MessageView>);

template <MessageMove move>
Result<void> move_message(const Gateway& context, const Request& request, Conversation& talk) {
  ItemId id = PENSTOCK_TRY(path_message(request, talk));
  (context.service.*move)(
      std::move(id), request.request_id,
      [talk = std::move(talk)](const Result<service::MessageView>& view) mutable {
        // The seed's sentence for a conflict speaks of idempotency keys.
        if (!view && view.error().kind == ErrorKind::conflict) {
          return talk.Exchange::fail(view.error());
        }
        if (!view) return talk.fail(view.error());
        talk.send(200, encode_message(*view));
      });
  return {};
}

// [from, to): an hour until now when the request does not say.
Result<service::UsageRange> range_of(const Request& request, Instant now) {
  const auto from = PENSTOCK_TRY(query_value(request, "from", parse_instant));
  const auto to = PENSTOCK_TRY(query_value(request, "to", parse_instant));
  service::UsageRange range;
  // The running minute is part of it.
  range.to = to.value_or(store::minute_of(now) + core::Minutes{1});
  range.from = from.value_or(range.to - kUsageRange);
  if (range.from >= range.to) return invalid_field("from", "must be before to");
  return range;
}

Result<service::UsageRange> usage_range_of(const Request& request, Instant now) {
  service::UsageRange range = PENSTOCK_TRY(range_of(request, now));
  const auto bucket = PENSTOCK_TRY(query_value(request, "bucket", parse_duration));
  range.bucket = bucket.value_or(core::Minutes{1});
  if (range.bucket < core::Minutes{1} || range.bucket > kBucketMax ||
      range.bucket % core::Minutes{1} != Millis::zero()) {
    return invalid_field("bucket", "must be whole minutes from PT1M to P1D");
  }
  if ((range.to - range.from) / range.bucket > std::int64_t{service::kUsagePointsMax}) {
    return invalid_field("bucket", "makes more than " + std::to_string(service::kUsagePointsMax) +
                                       " points; ask for less time or larger buckets");
  }
  return range;
}

Result<void> get_usage(const Gateway& context, const Request& request, Conversation& talk) {
  const auto user = PENSTOCK_TRY(query_value(request, "userId", parse_user));
  if (!user) return invalid_field("userId", "is missing");
  const service::UsageRange range = PENSTOCK_TRY(usage_range_of(request, talk.now()));
  context.service.usage(*user, range,
                        sends(std::move(talk), [user = *user, bucket = range.bucket](
                                                   const service::UsageBuckets& buckets) {
                          return encode_usage(user, bucket, buckets);
                        }));
  return {};
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

Result<std::size_t> parse_export_limit(std::string_view text) {
  const Result<std::int64_t> limit = parse_whole("limit", text);
  if (limit && *limit >= 1 && *limit <= std::int64_t{kExportLinesMax}) {
    return static_cast<std::size_t>(*limit);
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

// What to ask a store for, as a page of NDJSON. It is bounded, so that an export of any size costs
// little memory here; who wants the next page says where this one ended.
template <class Mark>
struct LinesAsked {
  service::UsageRange range;
  std::optional<Mark> after;
  std::size_t limit = kExportLines;
};

template <class Mark>
Result<LinesAsked<Mark>> lines_asked(const Request& request, Instant now,
                                     Result<Mark> (*parse)(std::string_view)) {
  LinesAsked<Mark> asked;
  asked.range = PENSTOCK_TRY(range_of(request, now));
  asked.after = PENSTOCK_TRY(query_value(request, "after", parse));
  const auto limit = PENSTOCK_TRY(query_value(request, "limit", parse_export_limit));
  asked.limit = limit.value_or(kExportLines);
  return asked;
}

template <class Encode>
auto sends_lines(Conversation&& talk, Encode encode) {
  return [talk = std::move(talk), encode](const auto& entries) mutable {
    if (!entries) return talk.fail(entries.error());
    talk.send({.body = encode(*entries), .content_type = "application/x-ndjson"});
  };
}

Result<void> export_attempts(const Gateway& context, const Request& request, Conversation& talk) {
  const auto asked = PENSTOCK_TRY(lines_asked(request, talk.now(), parse_attempt_mark));
  context.service.export_attempts(asked.range.from, asked.range.to, asked.after, asked.limit,
                                  sends_lines(std::move(talk), encode_attempt_lines));
  return {};
}

Result<void> export_usage(const Gateway& context, const Request& request, Conversation& talk) {
  const auto asked = PENSTOCK_TRY(lines_asked(request, talk.now(), parse_mark));
  context.service.export_usage(asked.range.from, asked.range.to, asked.after, asked.limit,
                               sends_lines(std::move(talk), encode_usage_lines));
  return {};
}

Result<void> list_top_limited(const Gateway& context, const Request& request, Conversation& talk) {
  const service::UsageRange range = PENSTOCK_TRY(range_of(request, talk.now()));
  const Page page = PENSTOCK_TRY(page_of(request));
  context.service.top_limited(range.from, range.to, page.limit,
                              sends(std::move(talk), encode_top_limited));
  return {};
}

}  // namespace

void add_gateway_routes(std::vector<Route>& routes, GatewayService& gateway,
                        const GatewaySentences& sentences, const Clock& clock) {
  const Binder<Gateway, Conversation> bind(routes, {gateway, sentences}, clock);
  bind(wire::route("putQuota"), put_quota);
  bind(wire::route("getQuota"), get_quota);
  bind(wire::route("deleteQuota"), delete_quota);
  bind(wire::route("sendMessage"), send_one);
  bind(wire::route("sendMessages"), send_batch);
  bind(wire::route("getMessage"), get_message);
  bind(wire::route("cancelMessage"), move_message<&GatewayService::cancel_message>);
  bind(wire::route("redriveMessage"), move_message<&GatewayService::redrive_message>);
  bind(wire::route("getUsage"), get_usage);
  bind(wire::route("exportUsage"), export_usage);
  bind(wire::route("exportAttempts"), export_attempts);
  bind(wire::route("listTopLimited"), list_top_limited);
}

}  // namespace penstock::front
