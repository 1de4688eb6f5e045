#include <penstock/limiter.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "core/policy/policy.h"
#include "library/bound_key_impl.h"
#include "library/limiter_impl.h"
#include "library/policies.h"

namespace penstock {
inline namespace v0 {
namespace {

constexpr std::size_t kKeysMax = 1'000'000'000;  // as throttle.max-keys of the daemon

Expected<core::PolicyDraft> fallback_of(Policy policy) {
  policy.key = core::kDefaultPolicyKey;
  return library::draft_of(policy);
}

}  // namespace

Expected<Limiter> Limiter::make(const LimiterOptions& options) {
  if (options.max_keys < 1 || options.max_keys > kKeysMax) {
    return Problem{.field = "max_keys", .what = "max_keys: must be from 1 to 1000000000"};
  }
  Expected<core::PolicyDraft> fallback = fallback_of(options.default_policy);
  if (!fallback) return fallback.error();
  return Limiter(std::make_shared<Impl>(options.max_keys, options.clock, *std::move(fallback)));
}

Limiter::Limiter(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Limiter::Limiter(Limiter&& other) noexcept = default;
Limiter& Limiter::operator=(Limiter&& other) noexcept = default;
Limiter::~Limiter() = default;

Expected<void> Limiter::set_policy(const Policy& policy) {
  Expected<core::PolicyDraft> draft = library::draft_of(policy);
  if (!draft) return draft.error();
  impl_->put_policy(*std::move(draft));
  return {};
}

Expected<void> Limiter::set_default_policy(const Policy& policy) {
  Expected<core::PolicyDraft> draft = fallback_of(policy);
  if (!draft) return draft.error();
  impl_->put_fallback(*std::move(draft));
  return {};
}

bool Limiter::remove_policy(std::string_view key) { return impl_->remove_policy(key); }

Policy Limiter::policy_for(std::string_view key) const {
  return library::policy_of(impl_->policies().match(key).draft);
}

std::size_t Limiter::policy_count() const { return impl_->policies().size(); }

Decision Limiter::check(std::string_view key, std::int64_t cost) {
  if (static_cast<std::uint64_t>(cost) > core::kCostMax || !library::good_key(key)) [[unlikely]] {
    return {.error = cost < 0 ? CheckError::bad_cost : library::error_of(key, cost)};
  }
  return impl_->decide_good(key, cost);
}

Decision Limiter::check_all(std::span<const std::string_view> keys, std::int64_t cost) {
  if (keys.size() == 1) return check(keys[0], cost);
  if (cost < 0 || cost > core::kCostMax) return {.error = CheckError::bad_cost};
  core::ThrottleCall call{.cost = cost};
  for (const std::string_view key : keys) {
    if (key.empty() || key.size() > store::memory::kKeyBytesMax) {
      return {.error = CheckError::bad_key};
    }
    if (!call.add(key)) return {.error = CheckError::bad_key_count};
  }
  if (call.key_count == 0) return {.error = CheckError::bad_key_count};
  core::ThrottleDecision decided;
  impl_->decide_all(call, decided);
  bool shadow_denied = false;
  for (std::size_t i = 0; i < decided.count; ++i) {
    shadow_denied |= decided.policies[i]->draft.shadow && !decided.statuses[i].admitted;
  }
  const core::LimitStatus& status = decided.status();
  return {.allowed = decided.allowed,
          .shadow_denied = shadow_denied,
          .limit = status.limit,
          .remaining = status.remaining,
          .retry_after = status.retry_after,
          .reset_after = status.reset_after,
          .key = decided.key()};
}

void Limiter::check_batch(std::span<const Check> checks, std::span<Decision> decisions) {
  PENSTOCK_CHECK(decisions.size() >= checks.size());
  while (!checks.empty()) {
    const std::size_t count = std::min(checks.size(), Impl::kGroup);
    impl_->decide_group(checks.first(count), decisions);
    checks = checks.subspan(count);
    decisions = decisions.subspan(count);
  }
}

Decision Limiter::peek(std::string_view key) const { return impl_->decide(key, 0); }

Decision Limiter::give_back(std::string_view key, std::int64_t cost) {
  if (cost < 0 || cost > core::kCostMax) return {.error = CheckError::bad_cost};
  return impl_->decide(key, -cost);
}

Expected<BoundKey> Limiter::bind(std::string_view key) const {
  if (!library::good_key(key)) {
    return Problem{.field = "key", .what = "key: must have from 1 to 512 bytes"};
  }
  return BoundKey(std::make_unique<BoundKey::Impl>(impl_, key));
}

bool Limiter::reset(std::string_view key) { return impl_->reset(key); }

std::size_t Limiter::key_count() const { return impl_->key_count(); }

}  // namespace v0
}  // namespace penstock
