#include "sink/address_guard.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace penstock::sink {
namespace {

using wire::CidrBlock;
using wire::IpAddress;

CidrBlock block(std::string_view text) {
  const auto parsed = wire::parse_cidr_block(text);
  PENSTOCK_CHECK(parsed);
  return *parsed;
}

// The special-purpose registries of IANA (RFC 6890 and later).
const std::vector<CidrBlock>& special_blocks() {
  static const std::vector<CidrBlock> blocks = [] {
    std::vector<CidrBlock> out;
    for (const std::string_view text : {
             "0.0.0.0/8",        // this network; Linux takes 0.0.0.0 as itself
             "10.0.0.0/8",       // private
             "100.64.0.0/10",    // carrier NAT; some clouds' metadata
             "127.0.0.0/8",      // loopback
             "169.254.0.0/16",   // link-local; most clouds' metadata
             "172.16.0.0/12",    // private
             "192.0.0.0/24",     // protocol assignments
             "192.0.2.0/24",     // documentation
             "192.88.99.0/24",   // 6to4 relays, given up
             "192.168.0.0/16",   // private
             "198.18.0.0/15",    // benchmarks
             "198.51.100.0/24",  // documentation
             "203.0.113.0/24",   // documentation
             "224.0.0.0/4",      // multicast
             "240.0.0.0/4",      // reserved, broadcast
             "2001::/23",        // protocol assignments, Teredo
             "2001:db8::/32",    // documentation
             "2002::/16",        // 6to4: carries an IPv4 address
             "3fff::/20",        // documentation
         }) {
      out.push_back(block(text));
    }
    return out;
  }();
  return blocks;
}

}  // namespace

bool is_public_address(const IpAddress& address) noexcept {
  static const CidrBlock nat64 = block("64:ff9b::/96");
  static const CidrBlock global = block("2000::/3");  // all that is given out so far
  IpAddress judged = address;
  if (nat64.contains(address)) {  // how hosts without IPv4 reach it
    std::fill_n(judged.bytes.begin(), 10, std::uint8_t{0});
    judged.bytes[10] = judged.bytes[11] = 0xff;
  }
  if (!judged.is_v4() && !global.contains(judged)) return false;
  return std::ranges::none_of(special_blocks(),
                              [&](const CidrBlock& each) { return each.contains(judged); });
}

}  // namespace penstock::sink
