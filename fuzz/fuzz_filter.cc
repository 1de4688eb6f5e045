// wire/filter_keys, ip_address: whatever a request says, it gets good and different
// keys; what strangers say about themselves changes nothing; addresses and paths have one spelling.
//
// The input is lines: peer, X-Forwarded-For twice, API key, user, URI.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "core/policy/throttle_key.h"
#include "wire/filter_keys.h"
#include "wire/ip_address.h"

namespace {

using namespace penstock::wire;

FilterRules make_rules() {
  FilterRules rules;
  for (const char* block : {"10.0.0.0/8", "127.0.0.1", "2001:db8::/32"}) {
    rules.trusted_proxies.push_back(*parse_cidr_block(block));
  }
  rules.rules = {{KeyPart::ip},
                 {KeyPart::api_key},
                 {KeyPart::route, KeyPart::user},
                 {KeyPart::ip, KeyPart::route},
                 {KeyPart::ip, KeyPart::api_key, KeyPart::user, KeyPart::route}};
  return rules;
}

std::vector<std::string> check_keys(const FilterRules& rules, const FilterFacts& facts) {
  std::vector<std::string> keys = filter_keys(rules, facts);
  PENSTOCK_CHECK(!keys.empty() && keys.size() <= rules.rules.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    PENSTOCK_CHECK(penstock::core::throttle_key_problem(keys[i]).empty());
    for (std::size_t j = 0; j < i; ++j) PENSTOCK_CHECK(keys[i] != keys[j]);
  }
  return keys;
}

void check_trust(const FilterRules& rules, const FilterFacts& facts) {
  const std::vector<std::string> keys = check_keys(rules, facts);
  if (is_trusted(rules, facts.peer_address)) return;
  const FilterFacts bare{.peer_address = facts.peer_address, .api_key = facts.api_key};
  PENSTOCK_CHECK(keys == filter_keys(rules, bare));
}

// Claims that stand left of the client's address are nobody's business.
void check_claims(const FilterRules& rules, std::string_view claims) {
  const FilterFacts plain{.peer_address = "127.0.0.1", .forwarded_for = {"203.0.113.9, 10.1.1.1"}};
  FilterFacts claimed = plain;
  claimed.forwarded_for.insert(claimed.forwarded_for.begin(), claims);
  PENSTOCK_CHECK(filter_keys(rules, claimed) == filter_keys(rules, plain));
}

void check_address(std::string_view text) {
  if (const std::optional<IpAddress> address = parse_ip_address(text)) {
    std::string printed;
    append_ip_address(printed, *address);
    PENSTOCK_CHECK(parse_ip_address(printed) == address);
    std::string again;
    append_ip_address(again, *parse_ip_address(printed));
    PENSTOCK_CHECK(again == printed);
  }
  if (const std::optional<CidrBlock> block = parse_cidr_block(text)) {
    PENSTOCK_CHECK(block->bits <= 128);
    PENSTOCK_CHECK(block->contains(block->address));
  }
}

void check_path(std::string_view target) {
  std::string path;
  append_route_path(path, target);
  PENSTOCK_CHECK(path.starts_with('/'));
  PENSTOCK_CHECK(path.find("//") == std::string::npos);
  for (const char c : path) PENSTOCK_CHECK(c > 0x20 && c < 0x7f && c != '?' && c != '#');
  std::string again;
  append_route_path(again, path);
  PENSTOCK_CHECK(again == path);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const FilterRules rules = make_rules();
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::array<std::string_view, 6> lines;
  for (std::string_view& line : lines) {
    line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    check_address(line);
    check_path(line);
    check_claims(rules, line);
  }
  FilterFacts facts{.peer_address = lines[0],
                    .forwarded_for = {lines[1], lines[2]},
                    .api_key = lines[3],
                    .user = lines[4],
                    .uri = lines[5]};
  check_trust(rules, facts);
  facts.peer_address = "10.0.0.1";
  check_trust(rules, facts);
  return 0;
}
