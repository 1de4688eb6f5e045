#include "engine/redis/resolve.h"

#include <netdb.h>

#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace penstock::store::redis {
namespace {

struct Lookup {
  std::vector<Address> addresses;
  std::string problem;
};

Lookup look_up(const Endpoint& endpoint, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  Lookup lookup;
  const std::string port = std::to_string(endpoint.port);
  const int failed = ::getaddrinfo(endpoint.host.c_str(), port.c_str(), &hints, &found);
  if (failed != 0) {
    lookup.problem = ::gai_strerror(failed);
    return lookup;
  }
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    if (at->ai_addrlen > sizeof(sockaddr_storage)) continue;
    Address address{.size = at->ai_addrlen};
    std::memcpy(&address.storage, at->ai_addr, at->ai_addrlen);
    lookup.addresses.push_back(address);
  }
  ::freeaddrinfo(found);
  return lookup;
}

struct Pending {
  std::mutex mutex;
  std::condition_variable ready;
  bool done = false;  // guarded by mutex
  Lookup lookup;      // guarded by mutex
};

}  // namespace

std::vector<Address> resolve(const Endpoint& endpoint, const runtime::Deadline& deadline,
                             std::string& problem) {
  Lookup numeric = look_up(endpoint, AI_NUMERICHOST);
  if (!numeric.addresses.empty()) return std::move(numeric.addresses);
  const auto pending = std::make_shared<Pending>();
  try {
    std::thread([pending, endpoint] {
      Lookup lookup = look_up(endpoint, 0);
      const std::lock_guard lock(pending->mutex);
      pending->lookup = std::move(lookup);
      pending->done = true;
      pending->ready.notify_one();
    }).detach();
  } catch (const std::system_error&) {
    problem = "no thread to look its name up";
    return {};
  }
  std::unique_lock lock(pending->mutex);
  if (!pending->ready.wait_for(lock, deadline.remaining(), [&] { return pending->done; })) {
    problem = "its name was not found before the deadline";
    return {};
  }
  problem = std::move(pending->lookup.problem);
  return std::move(pending->lookup.addresses);
}

}  // namespace penstock::store::redis
