#include "wire/throttle_headers.h"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "core/policy/policy.h"
#include "wire/percent.h"

namespace penstock::wire {
namespace {

__extension__ using Wide = __int128;

// Sixteen names of this length still leave a header of 2 KB, half of what proxies buffer.
constexpr std::size_t kNameBytesMax = 64;
constexpr std::int64_t kStructuredIntegerMax = 999'999'999'999'999;  // RFC 9651: 15 digits

void append_number(std::string& out, std::int64_t number) {
  char digits[20];
  out.append(digits, std::to_chars(std::begin(digits), std::end(digits), number).ptr);
}

void append_line(std::string& out, std::string_view name, std::int64_t number) {
  out += name;
  append_number(out, number);
  out += "\r\n";
}

std::int64_t whole_seconds(Micros wait) {
  return std::chrono::ceil<Seconds>(std::max(wait, Micros{0})).count();
}

void append_ratelimit(std::string& out, const core::ThrottleDecision& decision) {
  out += "RateLimit: ";
  append_policy_name(out, decision.policy());
  out += ";r=";
  append_number(out, decision.status().remaining);
  if (const auto more = more_quota_after(decision.policy().draft.limit, decision.status())) {
    out += ";t=";
    append_number(out, whole_seconds(*more));
  }
  out += "\r\n";
}

// Each policy once, whichever keys it decided about.
void append_ratelimit_policy(std::string& out, const core::ThrottleDecision& decision) {
  const auto begin = decision.policies.begin();
  out += "RateLimit-Policy: ";
  for (std::size_t i = 0; i < decision.count; ++i) {
    const core::Policy* policy = decision.policies[i];
    const auto here = begin + static_cast<std::ptrdiff_t>(i);
    if (std::find(begin, here, policy) != here) continue;
    if (i > 0) out += ", ";
    append_policy_name(out, *policy);
    out += ";q=";
    append_number(out, policy->draft.limit.capacity);
    if (const auto window = quota_window(policy->draft.limit)) {
      out += ";w=";
      append_number(out, window->count());
    }
  }
  out += "\r\n";
}

}  // namespace

void append_policy_name(std::string& out, const core::Policy& policy) {
  const std::size_t start = out.size();
  out += '"';
  for (const char c : policy.draft.key) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f || c == '%') {
      append_percent_byte(out, c);
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    if (out.size() - start > kNameBytesMax) {
      out.resize(start);
      out += "\"policy-";
      append_number(out, policy.id);
      break;
    }
  }
  out += '"';
}

std::optional<Seconds> quota_window(const core::Limit& limit) {
  if (!core::is_bucket(limit.type)) return limit.window;
  const Wide micros = Wide{limit.capacity} * limit.refill.micros / limit.refill.tokens;
  const Wide seconds = (micros + 999'999) / 1'000'000;
  if (seconds > kStructuredIntegerMax) return std::nullopt;
  return Seconds{std::max(static_cast<std::int64_t>(seconds), std::int64_t{1})};
}

std::optional<Micros> more_quota_after(const core::Limit& limit, const core::LimitStatus& status) {
  if (status.remaining >= status.limit) return std::nullopt;
  switch (limit.type) {
    case core::LimitType::token_bucket:
    case core::LimitType::gcra: {
      // The bucket is full after reset_after; before that the tokens come one by one.
      const Wide later = Wide{status.limit - status.remaining - 1} * limit.refill.micros;
      const Wide wait = status.reset_after.count() - later / limit.refill.tokens;
      return Micros{static_cast<std::int64_t>(std::max(wait, Wide{0}))};
    }
    case core::LimitType::fixed_window:
      return status.reset_after;
    case core::LimitType::sliding_window:
    case core::LimitType::sliding_window_counter:
      break;
  }
  if (status.retry_after > Micros{0}) return status.retry_after;
  return std::nullopt;
}

void append_throttle_headers(std::string& out, const core::ThrottleDecision& decision) {
  const core::LimitStatus& status = decision.status();
  append_line(out, "X-RateLimit-Limit: ", status.limit);
  append_line(out, "X-RateLimit-Remaining: ", status.remaining);
  if (!decision.allowed && status.retry_after != core::kNever) {
    append_line(out, "Retry-After: ", std::max(whole_seconds(status.retry_after), std::int64_t{1}));
  }
  append_ratelimit(out, decision);
  append_ratelimit_policy(out, decision);
}

}  // namespace penstock::wire
