#include "sink/http/loop.h"

#include <netdb.h>
#include <pthread.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <utility>

#include "runtime/threads.h"
#include "sink/address_guard.h"

namespace penstock::sink {
namespace {

constexpr std::size_t kResolverThreads = 2;  // a name whose servers are silent does not stop others

Result<Loop::Addresses> look_up(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) return fail(ErrorKind::unavailable, ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, ::freeaddrinfo);
  Loop::Addresses addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    if (each->ai_family != AF_INET && each->ai_family != AF_INET6) continue;
    if (addresses.size() == kAddressesMax) break;
    Tcp::endpoint& endpoint = addresses.emplace_back();
    endpoint.resize(each->ai_addrlen);
    std::memcpy(endpoint.data(), each->ai_addr, each->ai_addrlen);
  }
  if (addresses.empty()) return fail(ErrorKind::unavailable, "it has no address");
  return addresses;
}

}  // namespace

Loop::Loop(const Clock& clock, HttpClientOptions options, TlsContext tls)
    : clock_(clock),
      options_(std::move(options)),
      tls_(std::move(tls)),
      resolver_({.name = "sink-dns", .threads = kResolverThreads, .queue_max = kResolverQueueMax}),
      thread_([this] { run(); }) {}

Loop::~Loop() {
  resolver_.stop();
  context_.stop();
  thread_.join();
}

void Loop::run() {
  runtime::set_thread_name("sink-http");
  // Signals are the main thread's.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  context_.run();
}

Micros Loop::now() const noexcept {
  return std::chrono::duration_cast<Micros>(std::chrono::duration<double>(since_start_.seconds()));
}

void Loop::resolve(const std::string& host, std::uint16_t port, Resolved done) {
  // Shared, since a task that is not taken still has it and somebody has to be told.
  const auto shared = std::make_shared<Resolved>(std::move(done));
  const auto answer = [this, shared](Result<Addresses>&& found) {
    boost::asio::post(
        context_, [shared, found = std::move(found)]() mutable { (*shared)(std::move(found)); });
  };
  runtime::TaskQueue::Task task = [answer, host, port] { answer(look_up(host, port)); };
  if (resolver_.submit(std::move(task))) return;
  answer(fail(ErrorKind::overloaded, "too many names are being resolved"));
}

}  // namespace penstock::sink
