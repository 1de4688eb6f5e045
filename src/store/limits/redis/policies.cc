#include "store/limits/redis/policies.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "core/policy/policy_rules.h"
#include "store/limits/redis/policy_value.h"

namespace penstock::store::redis {
namespace {

constexpr std::size_t kPageMax = 10'000;

std::unexpected<Error> odd() { return fail(ErrorKind::corrupt, "redis: an odd answer"); }

}  // namespace

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

Result<std::optional<core::Policy>> Policies::find(std::string_view key) {
  const Result<Reply> reply = client_.run_one(command_of(newest_, {"HGET", newest_, key}),
                                              runtime::Deadline(kPolicyDeadline));
  if (!reply) return std::unexpected(reply.error());
  if (reply->top().type != wire::RespType::bulk) return std::nullopt;
  Result<core::Policy> policy = decode_policy(key, reply->top().text);
  if (!policy) return std::unexpected(std::move(policy.error()));
  if (policy->deleted) return std::nullopt;
  return std::move(*policy);
}

Result<core::Policy> Policies::create(const core::PolicyDraft& draft, std::optional<Instant> now) {
  if (Result<void> valid = core::validate(draft); !valid) return std::unexpected(valid.error());
  return change("create", draft.key, encode_draft(draft), now);
}

Result<core::Policy> Policies::update(const core::PolicyDraft& draft, std::optional<Instant> now) {
  if (Result<void> valid = core::validate(draft); !valid) return std::unexpected(valid.error());
  return change("update", draft.key, encode_draft(draft), now);
}

Result<void> Policies::remove(std::string_view key, std::optional<Instant> now) {
  Result<core::Policy> end = change("remove", key, "", now);
  if (!end) return std::unexpected(std::move(end.error()));
  return {};
}

Result<core::Policy> Policies::change(std::string_view what, std::string_view key,
                                      std::string_view draft, std::optional<Instant> now) {
  const std::string history = history_of(key);
  const std::string at = now ? std::to_string(now->time_since_epoch().count()) : std::string();
  const std::array<std::string_view, 5> keys = {newest_, names_, revision_, mark_, history};
  const std::array<std::string_view, 4> arguments = {what, key, at, draft};
  const Result<Reply> reply = client_.run_one(call_of(script("policy_change"), keys, arguments),
                                              runtime::Deadline(kPolicyDeadline));
  if (!reply) return std::unexpected(reply.error());
  const auto values = reply->flat();
  if (values.empty()) return odd();
  if (values[0].text == "exists") {
    return fail(ErrorKind::conflict,
                fmt::format("there is a policy with the key '{}' already", key));
  }
  if (values[0].text == "missing") {
    return fail(ErrorKind::not_found, fmt::format("there is no policy with the key '{}'", key));
  }
  if (values.size() != 2) return odd();
  return decode_policy(key, values[1].text);
}

Result<std::vector<core::Policy>> Policies::list(std::string_view after, std::size_t limit) {
  const std::string count = std::to_string(std::min(limit, kPageMax));
  const std::array<std::string_view, 2> keys = {newest_, names_};
  const std::array<std::string_view, 2> arguments = {after, count};
  const Result<Reply> reply = client_.run_one(call_of(script("policy_list"), keys, arguments),
                                              runtime::Deadline(kPolicyDeadline));
  if (!reply) return std::unexpected(reply.error());
  const auto values = reply->flat();
  std::vector<core::Policy> policies;
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
    Result<core::Policy> policy = decode_policy(values[i].text, values[i + 1].text);
    if (!policy) return std::unexpected(std::move(policy.error()));
    policies.push_back(std::move(*policy));
  }
  return policies;
}

Result<std::vector<core::Policy>> Policies::history(std::string_view key, std::size_t limit) {
  if (limit == 0) return std::vector<core::Policy>{};
  const std::string name = history_of(key);
  const std::string last = std::to_string(std::min(limit, kPageMax) - 1);
  const Result<Reply> reply = client_.run_one(command_of(name, {"LRANGE", name, "0", last}),
                                              runtime::Deadline(kPolicyDeadline));
  if (!reply) return std::unexpected(reply.error());
  std::vector<core::Policy> versions;
  for (const wire::RespValue& value : reply->flat()) {
    Result<core::Policy> policy = decode_policy(key, value.text);
    if (!policy) return std::unexpected(std::move(policy.error()));
    versions.push_back(std::move(*policy));
  }
  return versions;
}

Result<std::uint64_t> Policies::revision() {
  const Result<Reply> reply = client_.run_one(command_of(revision_, {"GET", revision_}),
                                              runtime::Deadline(kPolicyDeadline));
  if (!reply) return std::unexpected(reply.error());
  std::uint64_t revision = 0;
  const std::string_view text = reply->top().text;  // empty when there never was a change
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), revision);
  if (!text.empty() && problem != std::errc{}) return odd();
  return revision;
}

}  // namespace penstock::store::redis
