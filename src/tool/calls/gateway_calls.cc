#include <vector>

#include "tool/calls/calls.h"

namespace penstock::tool {
namespace {

constexpr std::int64_t kIntMax = 2'147'483'647;

Argument user(Place place, std::string_view names = "USER_ID") {
  return {.names = names,
          .field = "userId",
          .help = "The user, a number",
          .kind = ArgumentKind::integer,
          .place = place,
          .required = true,
          .min = 0,
          .max = kIntMax};
}

std::vector<Argument> from_to(std::vector<Argument> before) {
  before.push_back({.names = "--from",
                    .field = "from",
                    .help = "First minute: 2025-06-01T12:00:00Z, now, now-P1D",
                    .kind = ArgumentKind::time,
                    .place = Place::query,
                    .fallback = "now-P1D"});
  before.push_back({.names = "--to",
                    .field = "to",
                    .help = "End, not included",
                    .kind = ArgumentKind::time,
                    .place = Place::query,
                    .fallback = "now"});
  return before;
}

Call send() {
  return {
      .name = "send",
      .method = "POST",
      .path = "/api/send",
      .description = "Send a message of a user, counted against the user's quota.",
      .examples = {"penstock gateway send 17 'Your code is 4711' --to +491701234567",
                   "penstock gateway send 17 'Hello' --idempotency-key hello-17"},
      .arguments = {user(Place::body),
                    {.names = "TEXT", .field = "message", .help = "The message", .required = true},
                    {.names = "--to",
                     .field = "to",
                     .help = "The number it goes to",
                     .value_name = "NUMBER"},
                    {.names = "--idempotency-key",
                     .field = "idempotencyKey",
                     .help = "The same again with this key is sent and counted once",
                     .value_name = "KEY"}},
      .view = {.lines = {{"answer", "message"}, {"message", "messageId"}}}};
}

Call send_batch() {
  return {
      .name = "batch",
      .method = "POST",
      .path = "/api/send/batch",
      .description = "Send up to 10,000 messages in one call.",
      .examples = {"penstock gateway batch messages.ndjson",
                   "echo '[{\"userId\": 17, \"message\": \"Hello\"}]' | penstock gateway batch -"},
      .body = BodySource::entries,
      .view = {.rows = "results",
               .columns = {{"user", "userId"},
                           {"answer", "status"},
                           {"message", "messageId"},
                           {"said", "message"},
                           {"retry after", "retryAfter", Form::seconds}},
               .none = "no entries"}};
}

Call message(
    std::string_view name = "message", std::string_view method = "GET",
    std::string_view path = "/api/messages/{messageId}",
    std::string_view description = "Show how far a message is.",
    std::string_view example = "penstock gateway message 01900000000000000000000000000000") {
  return {.name = name,
          .method = method,
          .path = path,
          .description = description,
          .examples = {example},
          .arguments = {{.names = "MESSAGE_ID",
                         .field = "messageId",
                         .help = "The message, as `gateway send` names it",
                         .place = Place::path,
                         .required = true}},
          .view = {.lines = {{"message", "messageId"},
                             {"user", "userId"},
                             {"status", "status"},
                             {"provider", "provider"},
                             {"attempts", "attempts", Form::count},
                             {"accepted", "acceptedAt", Form::instant},
                             {"sent", "sentAt", Form::instant},
                             {"next try", "nextTryAt", Form::instant},
                             {"last error", "lastError"},
                             {"delivery", "delivery.state"},
                             {"delivery at", "delivery.at", Form::instant},
                             {"delivery detail", "delivery.detail"},
                             {"parts", "delivery.parts", Form::count},
                             {"parts delivered", "delivery.deliveredParts", Form::count}}}};
}

Call usage() {
  std::vector<Argument> arguments = from_to({user(Place::query)});
  arguments.push_back({.names = "--bucket",
                       .field = "bucket",
                       .help = "Time that one row covers: PT1M, PT1H, P1D",
                       .kind = ArgumentKind::duration,
                       .place = Place::query,
                       .fallback = "PT1H"});
  return {.name = "usage",
          .method = "GET",
          .path = "/api/analytics/usage",
          .description = "Show what a user sent, was refused and failed to send, over time.",
          .examples = {"penstock gateway usage 17",
                       "penstock gateway usage 17 --from now-PT1H --bucket PT1M"},
          .arguments = arguments,
          .view = {.lines = {{"user", "userId"}, {"a row is", "bucket", Form::duration}},
                   .rows = "points",
                   .columns = {{"from", "at", Form::instant},
                               {"sent", "sent", Form::count},
                               {"limited", "limited", Form::count},
                               {"failed", "failed", Form::count}},
                   .none = "nothing in this time"}};
}

Call top_limited() {
  std::vector<Argument> arguments = from_to({});
  arguments.push_back({.names = "--limit",
                       .field = "limit",
                       .help = "Users to show at most",
                       .kind = ArgumentKind::integer,
                       .place = Place::query,
                       .fallback = "100",
                       .min = 1,
                       .max = 1000});
  return {.name = "top-limited",
          .method = "GET",
          .path = "/api/analytics/top-limited",
          .description = "Show the users that were refused most.",
          .examples = {"penstock gateway top-limited",
                       "penstock gateway top-limited --from now-PT1H --limit 10"},
          .arguments = arguments,
          .view = {.rows = ".",
                   .columns = {{"user", "userId"}, {"refused", "limited", Form::count}},
                   .none = "nobody was refused in this time"}};
}

View quota_lines() {
  return {.lines = {{"user", "userId"},
                    {"limit", "rateLimit", Form::count},
                    {"window", "timeWindow", Form::minutes},
                    {"used", "currentCount", Form::count},
                    {"window began", "lastRefreshTime", Form::instant}}};
}

}  // namespace

std::span<const Call> gateway_calls() {
  static const std::vector<Call> calls{
      send(),
      send_batch(),
      message(),
      message("cancel", "POST", "/api/messages/{messageId}/cancel",
              "Cancel a message that still waits to be sent.",
              "penstock gateway cancel 01900000000000000000000000000000"),
      message("redrive", "POST", "/api/messages/{messageId}/redrive",
              "Try a failed message again: it goes at once, and is not counted again.",
              "penstock gateway redrive 01900000000000000000000000000000"),
      usage(),
      top_limited()};
  return calls;
}

std::span<const Call> quota_calls() {
  static const std::vector<Call> calls{
      {.name = "set",
       .method = "POST",
       .path = "/api/config",
       .description = "Set how many messages a user may send in a window of so many minutes.",
       .examples = {"penstock gateway config set 17 --limit 100 --window-minutes 60"},
       .arguments = {user(Place::body),
                     {.names = "--limit",
                      .field = "rateLimit",
                      .help = "Messages in a window",
                      .kind = ArgumentKind::integer,
                      .required = true,
                      .min = 1,
                      .max = kIntMax},
                     {.names = "--window-minutes",
                      .field = "timeWindow",
                      .help = "Length of the window",
                      .kind = ArgumentKind::integer,
                      .value_name = "MINUTES",
                      .required = true,
                      .min = 1,
                      .max = kIntMax}},
       .view = quota_lines()},
      {.name = "get",
       .method = "GET",
       .path = "/api/config/{userId}",
       .description = "Show what a user may send, and has.",
       .examples = {"penstock gateway config get 17"},
       .arguments = {user(Place::path)},
       .view = quota_lines()},
      {.name = "delete",
       .method = "DELETE",
       .path = "/api/config/{userId}",
       .description = "Forget the quota of a user, who then may send nothing.",
       .examples = {"penstock gateway config delete 17"},
       .arguments = {user(Place::path)},
       .view = {.done = "deleted the quota of user {userId}"}}};
  return calls;
}

}  // namespace penstock::tool
