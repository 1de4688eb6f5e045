#include <penstock/filter.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/check.h"
#include "core/policy/decision.h"
#include "library/limiter_impl.h"
#include "wire/filter_keys.h"
#include "wire/ip_address.h"
#include "wire/throttle_headers.h"

namespace penstock {
inline namespace v0 {
namespace {

// By the order of both enums.
static_assert(static_cast<int>(KeyPart::client_address) == static_cast<int>(wire::KeyPart::ip));
static_assert(static_cast<int>(KeyPart::api_key) == static_cast<int>(wire::KeyPart::api_key));
static_assert(static_cast<int>(KeyPart::user) == static_cast<int>(wire::KeyPart::user));
static_assert(static_cast<int>(KeyPart::route) == static_cast<int>(wire::KeyPart::route));

Problem problem(std::string_view field, std::string_view what) {
  return {.field = std::string(field), .what = std::string(field) + ": " + std::string(what)};
}

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool same_name(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::vector<std::string_view> values_of(const RequestView& request, std::string_view name) {
  std::vector<std::string_view> values;
  for (const HeaderView& header : request.headers) {
    if (same_name(header.name, name)) values.push_back(header.value);
  }
  if (request.find_header) request.find_header(name, values);
  return values;
}

Expected<wire::FilterRules> rules_of(const FilterOptions& options) {
  wire::FilterRules rules{.rules = {},
                          .user_header = options.user_header,
                          .ipv6_prefix_bits = options.ipv6_prefix_bits};
  for (const std::string& text : options.trusted_proxies) {
    const std::optional<wire::CidrBlock> block = wire::parse_cidr_block(text);
    if (!block) return problem("trusted_proxies", "\"" + text + "\" is no address or network");
    rules.trusted_proxies.push_back(*block);
  }
  if (options.rules.size() > core::kThrottleKeysMax) return problem("rules", "are at most 16");
  for (const std::vector<KeyPart>& rule : options.rules) {
    if (rule.empty()) return problem("rules", "a rule has at least one part");
    wire::KeyRule& parts = rules.rules.emplace_back();
    for (const KeyPart part : rule) {
      if (part > KeyPart::route) return problem("rules", "a part is none of the four");
      parts.push_back(static_cast<wire::KeyPart>(part));
    }
  }
  if (options.ipv6_prefix_bits < 1 || options.ipv6_prefix_bits > 128) {
    return problem("ipv6_prefix_bits", "must be from 1 to 128");
  }
  if (options.denied_status != 429 && options.denied_status != 403) {
    return problem("denied_status", "must be 429 or 403");
  }
  if (options.user_header.empty()) return problem("user_header", "must not be empty");
  return rules;
}

// From whole lines, `Name: value\r\n`.
std::vector<HeaderField> fields_of(std::string_view lines) {
  std::vector<HeaderField> fields;
  while (!lines.empty()) {
    const std::size_t end = lines.find("\r\n");
    const std::string_view line = lines.substr(0, end);
    const std::size_t colon = line.find(": ");
    fields.push_back({std::string(line.substr(0, colon)), std::string(line.substr(colon + 2))});
    lines.remove_prefix(end + 2);
  }
  return fields;
}

}  // namespace

class __attribute__((visibility("hidden"))) Filter::Impl {
 public:
  Impl(std::shared_ptr<library::Engine> engine, wire::FilterRules rules, FilterOptions options)
      : engine_(std::move(engine)), rules_(std::move(rules)), options_(std::move(options)) {}

  FilterDecision check(const RequestView& request, std::int64_t cost) const {
    if (std::ranges::find(options_.free_methods, request.method) != options_.free_methods.end()) {
      return {.allowed = true};
    }
    if (cost < 0 || cost > core::kCostMax) {
      return {.status = options_.denied_status, .message = "The cost is out of range"};
    }
    const std::vector<std::string> keys = wire::filter_keys(rules_, facts_of(request));
    core::ThrottleCall call{.cost = cost};
    for (const std::string& key : keys) PENSTOCK_CHECK(call.add(key));
    core::ThrottleDecision decided;
    engine_->decide_all(call, decided);
    return answer_of(decided);
  }

 private:
  // Where a header stands twice, what a proxy adds stands last; the lists of X-Forwarded-For are
  // one.
  wire::FilterFacts facts_of(const RequestView& request) const {
    wire::FilterFacts facts{.peer_address = request.peer_address,
                            .own_user = request.user,
                            .own_target = request.target};
    for (const std::string_view key : values_of(request, "X-API-Key")) {
      if (facts.api_key.empty()) facts.api_key = key;
    }
    if (!wire::is_trusted(rules_, request.peer_address)) return facts;
    facts.forwarded_for = values_of(request, "X-Forwarded-For");
    for (const std::string_view user : values_of(request, options_.user_header)) facts.user = user;
    return facts;
  }

  FilterDecision answer_of(const core::ThrottleDecision& decided) const {
    const core::LimitStatus& status = decided.status();
    std::string lines;
    wire::append_throttle_headers(lines, decided);
    FilterDecision answer{.allowed = decided.allowed,
                          .headers = fields_of(lines),
                          .key = std::string(decided.key()),
                          .limit = status.limit,
                          .remaining = status.remaining,
                          .retry_after = status.retry_after,
                          .reset_after = status.reset_after};
    if (!answer.allowed) {
      answer.status = options_.denied_status;
      answer.message = "Rate limit exceeded for key: " + answer.key;
    }
    return answer;
  }

  const std::shared_ptr<library::Engine> engine_;
  const wire::FilterRules rules_;
  const FilterOptions options_;
};

Expected<Filter> Filter::make(const Limiter& limiter, const FilterOptions& options) {
  Expected<wire::FilterRules> rules = rules_of(options);
  if (!rules) return rules.error();
  return Filter(std::make_unique<const Impl>(limiter.impl_, *std::move(rules), options));
}

Filter::Filter(std::unique_ptr<const Impl> impl) noexcept : impl_(std::move(impl)) {}
Filter::Filter(Filter&& other) noexcept = default;
Filter& Filter::operator=(Filter&& other) noexcept = default;
Filter::~Filter() = default;

FilterDecision Filter::check(const RequestView& request, std::int64_t cost) const {
  return impl_->check(request, cost);
}

}  // namespace v0
}  // namespace penstock
