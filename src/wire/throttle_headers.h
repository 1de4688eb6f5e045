// The header fields of a throttle decision: X-RateLimit-*, Retry-After, and RateLimit /
// RateLimit-Policy of draft-ietf-httpapi-ratelimit-headers-10 (structured fields of RFC 9651).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "core/policy/decision.h"

namespace penstock::wire {

// Appends whole lines, `Name: value\r\n`. Retry-After only on a denial that ends by itself.
void append_throttle_headers(std::string& out, const core::ThrottleDecision& decision);

// The name of a policy as a structured-field string, quotes included. Such strings are ASCII, so
// other bytes, and `%` itself, are percent-encoded; a name that gets too long for a header becomes
// "policy-<id>".
void append_policy_name(std::string& out, const core::Policy& policy);

// How long `q` lasts: of a bucket the time to fill it, of a window its length; at least 1. Empty
// when it does not fit a structured-field integer.
std::optional<Seconds> quota_window(const core::Limit& limit);

// Until there is more quota than now; empty when nothing is used, or when it cannot be known.
std::optional<Micros> more_quota_after(const core::Limit& limit, const core::LimitStatus& status);

}  // namespace penstock::wire
