// From a host's name to its addresses, within a deadline: the system's resolver knows none, so a
// name is looked up on a thread of its own that a caller who has waited long enough leaves alone.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "engine/redis/url.h"
#include "runtime/deadline.h"

namespace penstock::store::redis {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

// Empty: none was found, or none in time; `problem` says which.
std::vector<Address> resolve(const Endpoint& endpoint, const runtime::Deadline& deadline,
                             std::string& problem);

}  // namespace penstock::store::redis
