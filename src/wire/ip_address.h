// IP addresses and CIDR blocks as bytes: what a client's address is compared and normalised by.
// Pure; any text gives a value or nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace penstock::wire {

// IPv4 is kept as IPv6 has it (::ffff:a.b.c.d), so that both spellings are one address.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};

  bool is_v4() const noexcept;
  // The address with all but the first `bits` of its 128 cleared.
  IpAddress prefix(std::size_t bits) const noexcept;

  friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

// `192.0.2.1`, `2001:db8::1`, `[2001:db8::1]`; no port, no zone, no leading zeros in IPv4.
std::optional<IpAddress> parse_ip_address(std::string_view text) noexcept;
// The one canonical spelling (RFC 5952); IPv4 with dots.
void append_ip_address(std::string& out, const IpAddress& address);

struct CidrBlock {
  IpAddress address;
  std::size_t bits = 128;  // of the 128: an IPv4 /8 is 104

  bool contains(const IpAddress& other) const noexcept { return other.prefix(bits) == address; }
};

// `10.0.0.0/8`, `2001:db8::/32`, or a single address. Bits behind the prefix must be clear, else
// the writer meant something else.
std::optional<CidrBlock> parse_cidr_block(std::string_view text) noexcept;

}  // namespace penstock::wire
