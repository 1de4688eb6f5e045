// The throttle keys of a proxied request, by rules. Pure; safe on any thread.
//
// Whom to believe: the address of the socket is a fact, everything else is text that anybody can
// send. Headers about the request (X-Forwarded-For, X-Original-URI, X-Forwarded-Uri, the user id)
// count only when the socket's peer is a trusted proxy. Of X-Forwarded-For the right-most hop that
// is no trusted proxy is the client: hops to its left are its own claims. X-API-Key is believed
// from anyone, since a made-up key only adds a limit and never takes one away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/ip_address.h"

namespace penstock::wire {

// In the order in which they stand in a composed key.
enum class KeyPart : std::uint8_t { ip, api_key, user, route };

// The parts of one limit: `user:123|route:/v1/pay`. A rule with a part that the request does not
// have gives no limit.
using KeyRule = std::vector<KeyPart>;

struct FilterRules {
  std::vector<CidrBlock> trusted_proxies;
  std::vector<KeyRule> rules{{KeyPart::ip}, {KeyPart::api_key}};
  std::string user_header = "X-User-Id";
  // An IPv6 client usually has this many bits to itself, so one address more is no client more.
  std::size_t ipv6_prefix_bits = 64;
};

// What a request says; empty = absent.
struct FilterFacts {
  std::string_view peer_address;
  // All values of X-Forwarded-For in the order in which they came: they are one list.
  std::vector<std::string_view> forwarded_for;
  std::string_view api_key;
  std::string_view user;
  std::string_view uri;  // of the request that the proxy asks about
  // Of a filter that stands in the server itself: facts that need no proxy, and that stand before
  // what one says.
  std::string_view own_user = {};
  std::string_view own_target = {};
};

bool is_trusted(const FilterRules& rules, std::string_view peer_address) noexcept;

// The client's address in its one spelling; an IPv6 client as its network, `2001:db8:1:2::/64`.
std::string client_address(const FilterRules& rules, const FilterFacts& facts);

// One key per rule that applies, in the order of the rules, none twice; the client's address when
// none does, so that leaving a header out is no way around the limits. Values that no key may hold
// (control characters, broken UTF-8) are percent-encoded; a key that gets too long is cut and ends
// in a hash of the whole.
std::vector<std::string> filter_keys(const FilterRules& rules, const FilterFacts& facts);

// One spelling for every path that a server would take for the same.
// Appends the path of a request target: the query and fragment go, as do scheme and host;
// percent-encoded characters that need no encoding are decoded and the others written in capitals;
// `.` and `..` are resolved and slashes in a row become one, so that no spelling buys a fresh
// bucket. Bytes outside of printable ASCII are percent-encoded. Without a leading slash one is
// added. A broken `%` stays as `%25`.
void append_route_path(std::string& out, std::string_view target);

}  // namespace penstock::wire
