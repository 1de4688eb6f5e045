// Which addresses belong to the public Internet. Whoever may set an item type's URL could else make
// Penstock call what only its own network reaches. Pure.
#pragma once

#include <cstddef>

#include "wire/ip_address.h"

namespace penstock::sink {

inline constexpr std::size_t kAddressesMax = 8;  // trying more takes longer than any time-out
// Names that wait to be looked up: more than there are item types.
inline constexpr std::size_t kResolverQueueMax = 1'024;

// False for loopback, private, link-local, shared (carrier NAT), unique-local, multicast,
// unspecified, documentation and reserved addresses, and for the IPv6 forms that carry such an IPv4
// address.
bool is_public_address(const wire::IpAddress& address) noexcept;

}  // namespace penstock::sink
