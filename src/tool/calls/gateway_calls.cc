#include "tool/calls/call.h"

namespace penstock::tool {
namespace {

using enum Form;
using wire::route;

constexpr std::int64_t kIntMax = 2'147'483'647;

// clang-format off
Argument user(Place place) {
  return {.names = "USER_ID", .field = "userId", .help = "The user, a number",
          .kind = ArgumentKind::integer, .place = place, .required = true, .max = kIntMax};
}

// `before`, then the time that an answer is about.
std::vector<Argument> from_to(std::vector<Argument> before) {
  before.push_back({.names = "--from", .field = "from",
                    .help = "First minute: 2025-06-01T12:00:00Z, now, now-P1D",
                    .kind = ArgumentKind::time, .place = Place::query, .fallback = "now-P1D"});
  before.push_back({.names = "--to", .field = "to", .help = "End, not included",
                    .kind = ArgumentKind::time, .place = Place::query, .fallback = "now"});
  return before;
}

std::vector<Argument> usage_arguments() {
  std::vector<Argument> all = from_to({user(Place::query)});
  all.push_back({.names = "--bucket", .field = "bucket",
                 .help = "Time that one row covers: PT1M, PT1H, P1D",
                 .kind = ArgumentKind::duration, .place = Place::query, .fallback = "PT1H"});
  return all;
}

std::vector<Argument> top_arguments() {
  std::vector<Argument> all = from_to({});
  all.push_back({.names = "--limit", .field = "limit", .help = "Users to show at most",
                 .kind = ArgumentKind::integer, .place = Place::query, .fallback = "100",
                 .min = 1, .max = 1000});
  return all;
}

View message_lines() {
  return {.lines = {{"message", "messageId"}, {"user", "userId"}, {"status", "status"},
                    {"provider", "provider"}, {"attempts", "attempts", count},
                    {"accepted", "acceptedAt", instant}, {"sent", "sentAt", instant},
                    {"next try", "nextTryAt", instant}, {"last error", "lastError"},
                    {"delivery", "delivery.state"}, {"delivery at", "delivery.at", instant},
                    {"delivery detail", "delivery.detail"}, {"parts", "delivery.parts", count},
                    {"parts delivered", "delivery.deliveredParts", count}}};
}

View quota_lines() {
  return {.lines = {{"user", "userId"}, {"limit", "rateLimit", count},
                    {"window", "timeWindow", minutes}, {"used", "currentCount", count},
                    {"window began", "lastRefreshTime", instant}}};
}

}  // namespace

CallGroup gateway_calls() {
  return {.words = "gateway",
          .description = "Send messages, set quotas of users, look at what was counted.",
          .calls = {
      {.name = "send", .route = &route("sendMessage"),
       .note = "It is counted against the quota of its user.",
       .examples = {"penstock gateway send 17 'Your code is 4711' --to +491701234567",
                    "penstock gateway send 17 'Hello' --idempotency-key hello-17"},
       .arguments = {user(Place::body),
                     {.names = "TEXT", .field = "message", .help = "The message",
                      .required = true},
                     {.names = "--to", .field = "to", .help = "The number it goes to",
                      .value_name = "NUMBER"},
                     {.names = "--idempotency-key", .field = "idempotencyKey",
                      .help = "The same again with this key is sent and counted once",
                      .value_name = "KEY"}},
       .view = {.lines = {{"answer", "message"}, {"message", "messageId"}}}},
      {.name = "batch", .route = &route("sendMessages"),
       .about = "Send up to 10,000 messages in one call.",
       .examples = {"penstock gateway batch messages.ndjson",
                    "echo '[{\"userId\": 17, \"message\": \"Hello\"}]' | penstock gateway batch -"},
       .body = BodySource::file,
       .view = {.rows = "results",
                .columns = {{"user", "userId"}, {"answer", "status"}, {"message", "messageId"},
                            {"said", "message"}, {"retry after", "retryAfter", seconds}},
                .none = "no entries"}},
      {.name = "message", .route = &route("getMessage"),
       .examples = {"penstock gateway message 01900000000000000000000000000000"},
       .view = message_lines()},
      {.name = "cancel", .route = &route("cancelMessage"),
       .examples = {"penstock gateway cancel 01900000000000000000000000000000"},
       .view = message_lines()},
      {.name = "redrive", .route = &route("redriveMessage"),
       .note = "It goes at once, and is not counted again.",
       .examples = {"penstock gateway redrive 01900000000000000000000000000000"},
       .view = message_lines()},
      {.name = "usage", .route = &route("getUsage"),
       .note = "What was refused and what failed, too, over time.",
       .examples = {"penstock gateway usage 17",
                    "penstock gateway usage 17 --from now-PT1H --bucket PT1M"},
       .arguments = usage_arguments(),
       .view = {.lines = {{"user", "userId"}, {"a row is", "bucket", duration}},
                .rows = "points",
                .columns = {{"from", "at", instant}, {"sent", "sent", count},
                            {"limited", "limited", count}, {"failed", "failed", count}},
                .none = "nothing in this time"}},
      {.name = "top-limited", .route = &route("listTopLimited"),
       .examples = {"penstock gateway top-limited",
                    "penstock gateway top-limited --from now-PT1H --limit 10"},
       .arguments = top_arguments(),
       .view = {.rows = ".",
                .columns = {{"user", "userId"}, {"refused", "limited", count}},
                .none = "nobody was refused in this time"}}}};
}

CallGroup quota_calls() {
  return {.words = "gateway config",
          .description = "What users may send (needs the admin token).",
          .calls = {
      {.name = "set", .route = &route("putQuota"),
       .note = "So many messages in a window of so many minutes.",
       .examples = {"penstock gateway config set 17 --limit 100 --window-minutes 60"},
       .arguments = {user(Place::body),
                     {.names = "--limit", .field = "rateLimit", .help = "Messages in a window",
                      .kind = ArgumentKind::integer, .required = true, .min = 1, .max = kIntMax},
                     {.names = "--window-minutes", .field = "timeWindow",
                      .help = "Length of the window", .kind = ArgumentKind::integer,
                      .value_name = "MINUTES", .required = true, .min = 1, .max = kIntMax}},
       .view = quota_lines()},
      {.name = "get", .route = &route("getQuota"),
       .examples = {"penstock gateway config get 17"},
       .view = quota_lines()},
      {.name = "delete", .route = &route("deleteQuota"),
       .note = "The user then may send nothing.",
       .examples = {"penstock gateway config delete 17"},
       .view = {.done = "deleted the quota of user {userId}"}}}};
}

CallGroup daemon_calls() {
  return {.calls = {
      {.name = "status", .route = &route("getStatus"),
       .note = "Version, commit, store, how long it runs.",
       .examples = {"penstock status", "penstock status --url https://penstock.example.com"},
       .view = {.lines = {{"status", "status"}, {"message", "message"}, {"version", "version"},
                          {"commit", "commit"}, {"running for", "uptimeSeconds", seconds},
                          {"mode", "mode"}, {"store", "store"}}}},
      {.name = "health", .route = &route("getReady"),
       .about = "Ask a daemon whether it can do its work (ready), or serves at all (live).",
       .note = "Exit code 0 when it can, 1 when it says no, 3 when nobody answers.",
       .examples = {"penstock health", "penstock health live"},
       .arguments = {{.names = "CHECK", .field = "check", .help = "What is asked",
                      .place = Place::route, .value_name = "ready|live", .fallback = "ready"}},
       .shown_status = 503,
       .other_route = &route("getLive"),
       .view = {.lines = {{"status", "status"}},
                .rows = "checks",
                .columns = {{"check", "name"}, {"status", "status"}, {"message", "message"}}}},
      {.name = "routes", .route = &route("listRoutes"),
       .about = "List what a daemon answers to, and which token opens it.",
       .note = "`penstock commands` says which command calls which route.",
       .examples = {"penstock routes"},
       .view = {.rows = ".",
                .columns = {{"method", "method"}, {"path", "path"}, {"access", "access"},
                            {"scope", "scope"}, {"body", "body"}, {"what it does", "summary"}},
                .none = "no routes"}}}};
}
// clang-format on

}  // namespace penstock::tool
