#include "store/limits/redis/policies.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "store/limits/policy_change.h"
#include "store/limits/redis/value.h"
#include "wire/described.h"

namespace penstock::store::redis {
namespace {

constexpr Millis kPolicyDeadline{2'000};  // no decision waits for a call about policies
constexpr std::size_t kPageMax = 10'000;

std::unexpected<Error> odd() {
  return fail(ErrorKind::corrupt, "redis: an odd answer about policies");
}

constexpr std::string_view kNewestPage = "1000";
constexpr std::size_t kRestorePage = 500;  // some milliseconds of the server's time

constexpr Millis kBeatDeadline{500};  // a beat that comes late is worth little

constexpr std::size_t kHeadBytes = 4 * 8;  // of a version, before its document

std::optional<std::int64_t> take_whole(std::string_view& bytes) {
  const double value = take_double(bytes);
  if (!(value >= 0 && value <= 9007199254740992.0)) return std::nullopt;
  const auto whole = static_cast<std::int64_t>(value);
  if (static_cast<double>(whole) != value) return std::nullopt;
  return whole;
}

}  // namespace

std::string encode_policy(const core::Policy& policy) {
  std::string out;
  put_whole(policy.id, out);
  put_whole(policy.version, out);
  put_whole(policy.changed.time_since_epoch().count(), out);
  put_whole(policy.deleted ? 1 : 0, out);
  return out + wire::to_document(policy.draft);
}

Result<core::Policy> decode_policy(std::string_view bytes) {
  const auto corrupt = [] { return fail(ErrorKind::corrupt, "redis policy: bad bytes"); };
  if (bytes.size() < kHeadBytes) return corrupt();
  const auto id = take_whole(bytes);
  const auto version = take_whole(bytes);
  const auto changed = take_whole(bytes);
  const auto ended = take_whole(bytes);
  if (!id || !version || !changed || !ended) return corrupt();
  return stored_policy({.id = *id,
                        .version = *version,
                        .changed = Instant{Micros{*changed}},
                        .deleted = *ended != 0},
                       bytes);
}

Policies::Policies(Client& client, std::string_view prefix)
    : client_(client),
      tag_("{" + std::string(prefix) + "policy}:"),
      newest_(tag_ + "newest"),
      names_(tag_ + "names"),
      revision_(tag_ + "revision"),
      mark_(tag_ + "mark") {}

std::string Policies::history_of(std::string_view key) const {
  return tag_ + "history:" + std::string(key);
}

Result<Reply> Policies::ask(const Command& command) {
  return client_.run_one(command, runtime::Deadline(kPolicyDeadline));
}

Result<std::optional<core::Policy>> Policies::find(std::string_view key) {
  const Reply reply = PENSTOCK_TRY(ask(command_of(newest_, {"HGET", newest_, key})));
  if (reply.top().type != wire::RespType::bulk) return std::nullopt;
  core::Policy policy = PENSTOCK_TRY(decode_policy(reply.top().text));
  if (policy.deleted) return std::nullopt;
  return policy;
}

Result<core::Policy> Policies::create(const core::PolicyDraft& draft, std::optional<Instant> now) {
  PENSTOCK_TRY(check_record(draft));
  return change("create", draft.key, wire::to_document(draft), now);
}

Result<core::Policy> Policies::update(const core::PolicyDraft& draft, std::optional<Instant> now) {
  PENSTOCK_TRY(check_record(draft));
  return change("update", draft.key, wire::to_document(draft), now);
}

Result<void> Policies::remove(std::string_view key, std::optional<Instant> now) {
  PENSTOCK_TRY(change("remove", key, "", now));
  return {};
}

Result<core::Policy> Policies::change(std::string_view what, std::string_view key,
                                      std::string_view draft, std::optional<Instant> now) {
  const std::string history = history_of(key);
  const std::string at = now ? std::to_string(now->time_since_epoch().count()) : std::string();
  const std::array<std::string_view, 5> keys = {newest_, names_, revision_, mark_, history};
  const std::array<std::string_view, 4> arguments = {what, key, at, draft};
  const Reply reply = PENSTOCK_TRY(ask(call_of(script("policy_change"), keys, arguments)));
  const auto values = reply.flat();
  if (values.empty()) return odd();
  if (values[0].text == "exists") {
    return fail(ErrorKind::conflict,
                fmt::format("there is a policy with the key '{}' already", key));
  }
  if (values[0].text == "missing") {
    return fail(ErrorKind::not_found, fmt::format("there is no policy with the key '{}'", key));
  }
  if (values.size() != 2) return odd();
  return decode_policy(values[1].text);
}

Result<std::vector<core::Policy>> Policies::list(std::string_view after, std::size_t limit) {
  const std::string count = std::to_string(std::min(limit, kPageMax));
  const std::array<std::string_view, 2> keys = {newest_, names_};
  const std::array<std::string_view, 2> arguments = {after, count};
  const Reply reply = PENSTOCK_TRY(ask(call_of(script("policy_list"), keys, arguments)));
  const auto values = reply.flat();
  std::vector<core::Policy> policies;
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
    core::Policy policy = PENSTOCK_TRY(decode_policy(values[i + 1].text));
    policies.push_back(std::move(policy));
  }
  return policies;
}

Result<std::vector<core::Policy>> Policies::history(std::string_view key, std::size_t limit) {
  if (limit == 0) return std::vector<core::Policy>{};
  const std::string name = history_of(key);
  const std::string last = std::to_string(std::min(limit, kPageMax) - 1);
  const Reply reply = PENSTOCK_TRY(ask(command_of(name, {"LRANGE", name, "0", last})));
  std::vector<core::Policy> versions;
  for (const wire::RespValue& value : reply.flat()) {
    core::Policy policy = PENSTOCK_TRY(decode_policy(value.text));
    versions.push_back(std::move(policy));
  }
  return versions;
}

Result<std::uint64_t> Policies::revision() {
  const Reply reply = PENSTOCK_TRY(ask(command_of(revision_, {"GET", revision_})));
  std::uint64_t revision = 0;
  const std::string_view text = reply.top().text;  // empty when there never was a change
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), revision);
  if (!text.empty() && problem != std::errc{}) return odd();
  return revision;
}

// The half by which nodes notice and undo a loss.
Result<PolicyRecovery::Mark> Policies::mark() {
  const std::array<std::string_view, 2> keys = {mark_, revision_};
  const Reply reply = PENSTOCK_TRY(ask(call_of(script("policy_mark"), keys, {})));
  const auto values = reply.flat();
  if (values.size() != 2) return odd();
  Mark mark{.epoch = std::string(values[0].text)};
  const std::string_view text = values[1].text;
  const auto [end, problem] = std::from_chars(text.begin(), text.end(), mark.revision);
  if (problem != std::errc{} || end != text.end()) return odd();
  return mark;
}

Result<std::vector<core::Policy>> Policies::newest() {
  std::vector<core::Policy> policies;
  std::string cursor = "0";
  do {
    const Reply reply =
        PENSTOCK_TRY(ask(command_of(newest_, {"HSCAN", newest_, cursor, "COUNT", kNewestPage})));
    const auto values = reply.values();
    if (values.size() < 3 || values[0].integer != 2 || !values[2].is_aggregate()) {
      return odd();
    }
    cursor = values[1].text;
    for (std::size_t i = 3; i + 1 < values.size(); i += 2) {
      core::Policy policy = PENSTOCK_TRY(decode_policy(values[i + 1].text));
      policies.push_back(std::move(policy));
    }
  } while (cursor != "0");
  return policies;
}

Result<std::size_t> Policies::restore(std::span<const core::Policy> versions) {
  std::size_t written = 0;
  while (!versions.empty()) {
    const std::size_t page = std::min(versions.size(), kRestorePage);
    const std::size_t more = PENSTOCK_TRY(restore_page(versions.first(page)));
    written += more;
    versions = versions.subspan(page);
  }
  return written;
}

Result<std::size_t> Policies::restore_page(std::span<const core::Policy> versions) {
  std::vector<std::string> made;  // histories and values
  made.reserve(2 * versions.size());
  std::vector<std::string_view> keys = {newest_, names_, revision_, mark_};
  std::vector<std::string_view> arguments;
  for (const core::Policy& policy : versions) {
    keys.push_back(made.emplace_back(history_of(policy.draft.key)));
    arguments.push_back(policy.draft.key);
    arguments.push_back(made.emplace_back(encode_policy(policy)));
  }
  const Reply reply = PENSTOCK_TRY(ask(call_of(script("policy_restore"), keys, arguments)));
  if (reply.top().type != wire::RespType::integer || reply.top().integer < 0) {
    return odd();
  }
  return static_cast<std::size_t>(reply.top().integer);
}

Result<std::size_t> Nodes::beat(std::string_view node, Millis within) {
  const std::string micros = std::to_string(Micros{within}.count());
  const std::array<std::string_view, 1> keys = {name_};
  const std::array<std::string_view, 2> arguments = {node, micros};
  const Reply reply = PENSTOCK_TRY(client_.run_one(call_of(script("node_beat"), keys, arguments),
                                                   runtime::Deadline(kBeatDeadline)));
  return static_cast<std::size_t>(reply.top().integer);
}

Result<void> Nodes::leave(std::string_view node) {
  PENSTOCK_TRY(
      client_.run_one(command_of(name_, {"ZREM", name_, node}), runtime::Deadline(kBeatDeadline)));
  return {};
}

}  // namespace penstock::store::redis
