#include "wire/filter_keys.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "base/ascii.h"
#include "core/policy/throttle_key.h"
#include "wire/percent.h"

namespace penstock::wire {
namespace {

// Characters that no URI has as they are (RFC 3986), and the `%` of nothing.
constexpr std::string_view kNeverPlain = "%|\"<>\\^`{}";

// `http://host/path` -> `/path`
std::string_view path_of(std::string_view target) noexcept {
  target = target.substr(0, target.find_first_of("?#"));
  const std::size_t scheme = target.find("://");
  if (scheme != target.npos && target.substr(0, scheme).find('/') == target.npos) {
    target.remove_prefix(scheme + 3);
    const std::size_t slash = target.find('/');
    target = slash == target.npos ? std::string_view{} : target.substr(slash);
  }
  return target;
}

// One segment, its characters in their one spelling.
void append_segment(std::string& out, std::string_view segment) {
  while (!segment.empty()) {
    const auto byte = static_cast<unsigned char>(segment.front());
    const int high = segment.size() > 2 ? hex_digit(segment[1]) : -1;
    const int low = segment.size() > 2 ? hex_digit(segment[2]) : -1;
    if (byte == '%' && high >= 0 && low >= 0) {
      const auto meant = static_cast<char>(high * 16 + low);
      append_percent_encoded(out, {&meant, 1});
      segment.remove_prefix(3);
      continue;
    }
    if (byte <= ' ' || byte >= 0x7f || kNeverPlain.find(segment.front()) != kNeverPlain.npos) {
      append_percent_byte(out, segment.front());
    } else {
      out += segment.front();
    }
    segment.remove_prefix(1);
  }
}

std::string_view trim(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Some proxies write ports: `192.0.2.1:5000`, `[2001:db8::1]:5000`.
std::optional<IpAddress> parse_hop(std::string_view hop) noexcept {
  if (hop.starts_with('[')) {
    return parse_ip_address(hop.substr(0, std::min(hop.find(']'), hop.size() - 1) + 1));
  }
  if (std::ranges::count(hop, ':') == 1) hop = hop.substr(0, hop.find(':'));
  return parse_ip_address(hop);
}

bool is_trusted(const FilterRules& rules, const IpAddress& address) noexcept {
  return std::ranges::any_of(rules.trusted_proxies,
                             [&](const CidrBlock& block) { return block.contains(address); });
}

// The hops of the whole list from right to left; `visit` ends the walk with false.
template <class Visit>
void each_hop_from_the_right(const std::vector<std::string_view>& lists, const Visit& visit) {
  for (auto list = lists.rbegin(); list != lists.rend(); ++list) {
    std::string_view rest = *list;
    for (;;) {
      const std::size_t comma = rest.rfind(',');
      const std::string_view hop = trim(comma == rest.npos ? rest : rest.substr(comma + 1));
      if (!hop.empty() && !visit(hop)) return;
      if (comma == rest.npos) break;
      rest = rest.substr(0, comma);
    }
  }
}

void append_network(std::string& out, const IpAddress& address, std::size_t ipv6_bits) {
  if (address.is_v4() || ipv6_bits >= 128) return append_ip_address(out, address);
  append_ip_address(out, address.prefix(ipv6_bits));
  out += '/';
  out += std::to_string(ipv6_bits);
}

std::uint64_t hash(std::string_view text) noexcept {  // FNV-1a
  std::uint64_t out = 0xcbf29ce484222325;
  for (const char c : text) out = (out ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return out;
}

// Makes any text a part of a key. `|` separates the parts, so a value's own is encoded: else
// `X-API-Key: a|user:root` could stand for two.
void append_value(std::string& out, std::string_view value) {
  const bool clean =
      core::throttle_key_problem(value.substr(0, core::kThrottleKeyBytesMax)).empty();
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x20 && byte != 0x7f && (byte < 0x80 || clean);
    if (plain && c != '|' && c != '%') {
      out += c;
    } else {
      out += '%';
      out += kHexDigits[byte >> 4];
      out += kHexDigits[byte & 0xf];
    }
  }
}

void bound(std::string& key) {
  constexpr std::size_t kHashBytes = 17;  // `~` and 16 digits
  if (key.size() <= core::kThrottleKeyBytesMax) return;
  const std::uint64_t all = hash(key);
  std::size_t cut = core::kThrottleKeyBytesMax - kHashBytes;
  while (cut > 0 && (static_cast<unsigned char>(key[cut]) & 0xc0) == 0x80) --cut;  // whole letters
  key.resize(cut);
  key += '~';
  for (int shift = 60; shift >= 0; shift -= 4) key += kHexDigits[(all >> shift) & 0xf];
}

// What the request has of each part, as it stands in a key; empty = it has none.
class Parts {
 public:
  Parts(const FilterRules& rules, const FilterFacts& facts) {
    part(KeyPart::ip) = "ip:" + client_address(rules, facts);
    if (!facts.api_key.empty()) append_value(part(KeyPart::api_key) = "apiKey:", facts.api_key);
    const bool trusted = wire::is_trusted(rules, facts.peer_address);
    const auto fact = [&](std::string_view own, std::string_view told) {
      return own.empty() && trusted ? told : own;
    };
    const std::string_view user = fact(facts.own_user, facts.user);
    if (!user.empty()) append_value(part(KeyPart::user) = "user:", user);
    const std::string_view target = fact(facts.own_target, facts.uri);
    if (!target.empty()) append_route_path(part(KeyPart::route) = "route:", target);
  }

  // Empty when a part is missing. The order is ours, however the rule is written.
  std::string compose(const KeyRule& rule) const {
    std::string key;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (std::ranges::find(rule, static_cast<KeyPart>(i)) == rule.end()) continue;
      if (parts_[i].empty()) return {};
      if (!key.empty()) key += '|';
      key += parts_[i];
    }
    return key;
  }

 private:
  std::string& part(KeyPart which) noexcept { return parts_[static_cast<std::size_t>(which)]; }

  std::array<std::string, 4> parts_;
};

}  // namespace

bool is_trusted(const FilterRules& rules, std::string_view peer_address) noexcept {
  const auto peer = parse_ip_address(peer_address);
  return peer && is_trusted(rules, *peer);
}

std::string client_address(const FilterRules& rules, const FilterFacts& facts) {
  std::string out;
  std::optional<IpAddress> client = parse_ip_address(facts.peer_address);
  if (!client) {
    append_value(out, facts.peer_address);
    return out;
  }
  if (is_trusted(rules, *client)) {
    each_hop_from_the_right(facts.forwarded_for, [&](std::string_view hop) {
      const auto address = parse_hop(hop);
      if (!address) return false;  // what stands behind a hop that is no address is a claim
      client = address;
      return is_trusted(rules, *address);
    });
  }
  append_network(out, *client, rules.ipv6_prefix_bits);
  return out;
}

std::vector<std::string> filter_keys(const FilterRules& rules, const FilterFacts& facts) {
  const Parts parts(rules, facts);
  std::vector<std::string> keys;
  for (const KeyRule& rule : rules.rules) {
    std::string key = parts.compose(rule);
    if (key.empty()) continue;
    bound(key);
    if (std::ranges::find(keys, key) == keys.end()) keys.push_back(std::move(key));
  }
  if (keys.empty()) keys.push_back(parts.compose({KeyPart::ip}));
  return keys;
}

void append_route_path(std::string& out, std::string_view target) {
  const std::size_t start = out.size();
  std::string_view rest = path_of(target);
  bool directory = true;  // the path ends in a slash so far
  while (!rest.empty()) {
    const std::size_t slash = rest.find('/');
    const std::string_view raw = rest.substr(0, slash);
    const bool last = slash == rest.npos;
    rest = last ? std::string_view{} : rest.substr(slash + 1);
    if (raw.empty()) {
      directory = true;
      continue;
    }
    const std::size_t before = out.size();
    out += '/';
    append_segment(out, raw);
    const std::string_view segment = std::string_view(out).substr(before + 1);
    directory = !last;
    if (segment != "." && segment != "..") continue;
    const bool up = segment == "..";
    out.resize(before);
    directory = true;
    if (up && out.size() > start) out.resize(std::max(out.rfind('/'), start));
  }
  if (directory) out += '/';
}

}  // namespace penstock::wire
