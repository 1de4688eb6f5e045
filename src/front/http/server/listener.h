// Accepts connections and hands each to the loop that has fewest. One listening socket on one loop,
// not one per thread by SO_REUSEPORT: the kernel's hash spreads few connections badly, and would
// let a second daemon share the port unnoticed. Owned by the server; works on its loop's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "front/http/server/asio.h"
#include "front/http/server/loop.h"
#include "front/http/server/server_state.h"

namespace penstock::front {

class Listener {
 public:
  // Works on the first loop's thread; the state and the loops must outlive it.
  Listener(ServerState& state, std::vector<std::unique_ptr<Loop>>& loops);

  // Before the threads run: takes the address.
  Result<void> open(const std::string& address, std::uint16_t port);
  std::uint16_t port() const noexcept { return port_; }
  void start();

  // On any thread; accepts nothing more once the loop has come to it.
  void request_stop();

 private:
  void wait();
  void accept_some();
  bool accept_one();
  void pause();
  Loop& least_loaded() noexcept;

  ServerState& state_;
  std::vector<std::unique_ptr<Loop>>& loops_;
  TcpAcceptor acceptor_;
  Timer retry_;
  std::uint16_t port_ = 0;
  std::size_t turn_ = 0;      // breaks ties
  bool warned_ = false;       // that descriptors ran out, since it last worked
  bool warned_full_ = false;  // that connections are refused, since one was let in
};

}  // namespace penstock::front
