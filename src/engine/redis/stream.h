// One TCP connection, plain or TLS, on which nothing takes longer than its deadline. One thread.
#pragma once

#include <sys/socket.h>

#include <memory>
#include <string>
#include <string_view>

#include "engine/redis/errors.h"
#include "engine/redis/tls.h"
#include "runtime/clocks.h"

namespace penstock::store::redis {

class Stream {
 public:
  // `tls` null = plain.
  static ClientResult<std::unique_ptr<Stream>> connect(const Endpoint& endpoint,
                                                       const TlsContext* tls,
                                                       const runtime::Deadline& deadline);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();

  ClientResult<void> send(std::string_view bytes, const runtime::Deadline& deadline);
  // Appends at least one byte.
  ClientResult<void> receive(std::string& buffer, const runtime::Deadline& deadline);
  // False when the peer closed it, or said something nobody asked for. Never waits.
  bool still_open() const noexcept;
  const Endpoint& endpoint() const noexcept { return endpoint_; }

 private:
  explicit Stream(Endpoint endpoint) : endpoint_(std::move(endpoint)) {}
  bool open_socket(const sockaddr* address, socklen_t size, const runtime::Deadline& deadline,
                   std::string& problem);
  ClientResult<void> start_tls(const TlsContext& tls, const runtime::Deadline& deadline);
  ClientResult<void> send_raw(std::string_view bytes, const runtime::Deadline& deadline);
  ClientResult<void> receive_raw(std::string& buffer, const runtime::Deadline& deadline);

  const Endpoint endpoint_;
  int fd_ = -1;
  std::unique_ptr<TlsSession> tls_;
};

}  // namespace penstock::store::redis
