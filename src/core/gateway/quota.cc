#include "core/gateway/quota.h"

#include <string>
#include <string_view>

namespace penstock::core {
namespace {

Result<void> check_range(std::string_view field, std::int64_t value, std::int64_t least,
                         std::int64_t most) {
  if (value >= least && value <= most) return {};
  return invalid_field(field,
                       "must be from " + std::to_string(least) + " to " + std::to_string(most));
}

}  // namespace

Result<UserId> check_user_id(std::int64_t user) {
  PENSTOCK_TRY(check_range("userId", user, 0, kUserIdMax));
  return UserId{static_cast<std::int32_t>(user)};
}

Result<QuotaRule> check_quota_rule(std::int64_t rate_limit, std::int64_t window_minutes) {
  PENSTOCK_TRY(check_range("rateLimit", rate_limit, 1, kRateLimitMax));
  PENSTOCK_TRY(check_range("timeWindow", window_minutes, 1, kTimeWindowMax.count()));
  return QuotaRule{.rate_limit = rate_limit, .window = Minutes{window_minutes}};
}

}  // namespace penstock::core
