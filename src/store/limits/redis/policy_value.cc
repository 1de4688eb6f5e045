#include "store/limits/redis/policy_value.h"

#include <optional>

#include "core/limits/limit.h"
#include "core/limits/state.h"
#include "store/limits/redis/value.h"

namespace penstock::store::redis {
namespace {

constexpr char kFormat = 1;
constexpr std::size_t kHeadBytes = 4 * 8;

std::optional<std::int64_t> take_whole(std::string_view& bytes) {
  const double value = take_double(bytes);
  if (!(value >= 0 && value <= 9007199254740992.0)) return std::nullopt;
  const auto whole = static_cast<std::int64_t>(value);
  if (static_cast<double>(whole) != value) return std::nullopt;
  return whole;
}

std::optional<std::int64_t> take(std::string_view& bytes, std::int64_t max) {
  const std::optional<std::uint64_t> value = core::take_number(bytes);
  if (!value || *value > static_cast<std::uint64_t>(max)) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

bool decode_draft(std::string_view bytes, core::PolicyDraft& draft) {
  if (bytes.empty() || bytes.front() != kFormat) return false;
  bytes.remove_prefix(1);
  const auto type = take(bytes, static_cast<std::int64_t>(core::LimitType::fixed_window));
  const auto capacity = take(bytes, core::kCapacityMax);
  const auto tokens = take(bytes, INT64_MAX);
  const auto micros = take(bytes, INT64_MAX);
  const auto window = take(bytes, core::kLimitWindowMax.count());
  const auto shadow = take(bytes, 1);
  const auto failure = take(bytes, static_cast<std::int64_t>(core::OnStoreFailure::local));
  if (!type || !capacity || !tokens || !micros || !window || !shadow || !failure) return false;
  draft.limit = {.type = static_cast<core::LimitType>(*type),
                 .capacity = *capacity,
                 .refill = {.tokens = *tokens, .micros = *micros},
                 .window = Seconds{*window}};
  draft.shadow = *shadow == 1;
  draft.on_store_failure = static_cast<core::OnStoreFailure>(*failure);
  draft.refill_text = bytes;
  return true;
}

}  // namespace

std::string encode_draft(const core::PolicyDraft& draft) {
  std::string out(1, kFormat);
  const auto put = [&](std::int64_t value) {
    core::put_number(static_cast<std::uint64_t>(value), out);
  };
  put(static_cast<std::int64_t>(draft.limit.type));
  put(draft.limit.capacity);
  put(draft.limit.refill.tokens);
  put(draft.limit.refill.micros);
  put(draft.limit.window.count());
  put(draft.shadow ? 1 : 0);
  put(static_cast<std::int64_t>(draft.on_store_failure));
  return out + draft.refill_text;
}

std::string encode_policy(const core::Policy& policy) {
  std::string out;
  put_whole(policy.id, out);
  put_whole(policy.version, out);
  put_whole(policy.changed.time_since_epoch().count(), out);
  put_whole(policy.deleted ? 1 : 0, out);
  return out + encode_draft(policy.draft);
}

Result<core::Policy> decode_policy(std::string_view key, std::string_view bytes) {
  const auto corrupt = [] { return fail(ErrorKind::corrupt, "redis policy: bad bytes"); };
  if (bytes.size() < kHeadBytes) return corrupt();
  const auto id = take_whole(bytes);
  const auto version = take_whole(bytes);
  const auto changed = take_whole(bytes);
  const auto ended = take_whole(bytes);
  core::Policy policy;
  if (!id || !version || !changed || !ended || !decode_draft(bytes, policy.draft)) return corrupt();
  policy.id = *id;
  policy.version = *version;
  policy.draft.key = key;
  policy.changed = Instant{Micros{*changed}};
  policy.deleted = *ended != 0;
  return policy;
}

}  // namespace penstock::store::redis
