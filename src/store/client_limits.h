// Keys whose limit comes with each call (CL.THROTTLE) share the table with those of policies. They
// have a character before them that no key of a policy may contain, so the two never meet.
#pragma once

#include <string_view>

namespace penstock::store {

inline constexpr char kClientLimitPrefix = '\x01';

// Whether no policy says what the limit of the key is.
constexpr bool has_client_limit(std::string_view key) noexcept {
  return key.starts_with(kClientLimitPrefix);
}

}  // namespace penstock::store
