#include "daemon/config/throttle_values.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/policy/decision.h"

namespace penstock::daemon {
namespace {

constexpr std::array<std::pair<std::string_view, wire::KeyPart>, 4> kWords{{
    {"ip", wire::KeyPart::ip},
    {"api-key", wire::KeyPart::api_key},
    {"user", wire::KeyPart::user},
    {"route", wire::KeyPart::route},
}};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<wire::KeyRule> parse_rule(std::string_view text) {
  wire::KeyRule rule;
  for (const std::string_view word : split(text, '+')) {
    const auto found =
        std::ranges::find(kWords, word, &std::pair<std::string_view, wire::KeyPart>::first);
    if (found == kWords.end()) return std::nullopt;
    if (std::ranges::find(rule, found->second) != rule.end()) return std::nullopt;
    rule.push_back(found->second);
  }
  return rule;
}

}  // namespace

std::string tidy_list(std::string_view text) {
  std::string out(text);
  std::erase(out, ' ');
  return out;
}

std::optional<std::vector<wire::CidrBlock>> parse_address_blocks(std::string_view text) {
  std::vector<wire::CidrBlock> blocks;
  const std::string tidy = tidy_list(text);
  if (tidy.empty()) return blocks;
  for (const std::string_view entry : split(tidy, ',')) {
    const auto block = wire::parse_cidr_block(entry);
    if (!block) return std::nullopt;
    blocks.push_back(*block);
  }
  return blocks;
}

std::optional<std::vector<std::string>> parse_list(std::string_view text,
                                                   bool (*check)(std::string_view) noexcept) {
  std::vector<std::string> entries;
  const std::string tidy = tidy_list(text);
  if (tidy.empty()) return entries;
  for (const std::string_view entry : split(tidy, ',')) {
    if (!check(entry)) return std::nullopt;
    entries.emplace_back(entry);
  }
  return entries;
}

std::optional<std::vector<wire::KeyRule>> parse_key_rules(std::string_view text) {
  std::vector<wire::KeyRule> rules;
  const std::string tidy = tidy_list(text);
  for (const std::string_view entry : split(tidy, ',')) {
    auto rule = parse_rule(entry);
    if (!rule || rules.size() == core::kThrottleKeysMax) return std::nullopt;
    rules.push_back(std::move(*rule));
  }
  return rules;
}

bool is_header_name(std::string_view text) noexcept {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";  // RFC 9110: the marks of a token
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kMarks.find(c) != kMarks.npos;
  });
}

}  // namespace penstock::daemon
