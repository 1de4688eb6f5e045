// The half of the policies on Redis by which nodes notice and undo a loss.
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "store/limits/redis/policies.h"
#include "store/limits/redis/policy_value.h"

namespace penstock::store::redis {
namespace {

constexpr std::string_view kNewestPage = "1000";
constexpr std::size_t kRestorePage = 500;  // some milliseconds of the server's time

std::unexpected<Error> odd_recovery() {
  return fail(ErrorKind::corrupt, "redis: an odd answer about policies");
}

}  // namespace

Result<PolicyRecovery::Mark> Policies::mark() {
  const std::array<std::string_view, 2> keys = {mark_, revision_};
  const Result<Reply> reply =
      client_.run_one(call_of(script("policy_mark"), keys, {}), runtime::Deadline(kPolicyDeadline));
  if (!reply) return std::unexpected(reply.error());
  const auto values = reply->flat();
  if (values.size() != 2) return odd_recovery();
  Mark mark{.epoch = std::string(values[0].text)};
  const std::string_view text = values[1].text;
  const auto [end, problem] = std::from_chars(text.begin(), text.end(), mark.revision);
  if (problem != std::errc{} || end != text.end()) return odd_recovery();
  return mark;
}

Result<std::vector<core::Policy>> Policies::newest() {
  std::vector<core::Policy> policies;
  std::string cursor = "0";
  do {
    const Result<Reply> reply =
        client_.run_one(command_of(newest_, {"HSCAN", newest_, cursor, "COUNT", kNewestPage}),
                        runtime::Deadline(kPolicyDeadline));
    if (!reply) return std::unexpected(reply.error());
    const auto values = reply->values();
    if (values.size() < 3 || values[0].integer != 2 || !values[2].is_aggregate()) {
      return odd_recovery();
    }
    cursor = values[1].text;
    for (std::size_t i = 3; i + 1 < values.size(); i += 2) {
      Result<core::Policy> policy = decode_policy(values[i].text, values[i + 1].text);
      if (!policy) return std::unexpected(std::move(policy.error()));
      policies.push_back(std::move(*policy));
    }
  } while (cursor != "0");
  return policies;
}

Result<std::size_t> Policies::restore(std::span<const core::Policy> versions) {
  std::size_t written = 0;
  while (!versions.empty()) {
    const std::size_t page = std::min(versions.size(), kRestorePage);
    const Result<std::size_t> more = restore_page(versions.first(page));
    if (!more) return more;
    written += *more;
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
  const Result<Reply> reply = client_.run_one(call_of(script("policy_restore"), keys, arguments),
                                              runtime::Deadline(kPolicyDeadline));
  if (!reply) return std::unexpected(reply.error());
  if (reply->top().type != wire::RespType::integer || reply->top().integer < 0) {
    return odd_recovery();
  }
  return static_cast<std::size_t>(reply->top().integer);
}

}  // namespace penstock::store::redis
