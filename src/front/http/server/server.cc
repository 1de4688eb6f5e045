#include "front/http/server/server.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include "front/http/server/listener.h"
#include "front/http/server/loop.h"
#include "front/http/server/server_state.h"
#include "runtime/clocks.h"

namespace penstock::front {
namespace {

Result<void> check(const HttpOptions& options) {
  if (options.tls_certificate_file.empty() != options.tls_key_file.empty()) {
    return fail(ErrorKind::invalid, "TLS needs both a certificate file and a key file");
  }
  for (const std::string* token : {&options.tokens.admin, &options.tokens.api}) {
    if (token->size() > kTokenBytesMax) {
      return fail(ErrorKind::invalid, "a token is longer than 512 bytes");
    }
  }
  return {};
}

class BeastServer final : public HttpServer {
 public:
  BeastServer(const HttpOptions& options, std::vector<Route> routes, const Clock& clock, Log& log,
              runtime::Metrics& metrics, Guesses& guesses, runtime::MemoryBudget& memory)
      : state_(options, std::move(routes), clock, log, metrics, guesses, memory,
               runtime::random_seed()) {
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t threads = options.threads == 0 ? cores : options.threads;
    for (std::size_t i = 0; i < threads; ++i) {
      loops_.push_back(std::make_unique<Loop>(state_, static_cast<std::uint32_t>(i)));
    }
    listener_ = std::make_unique<Listener>(state_, loops_);
  }
  ~BeastServer() override { stop(); }

  Result<void> open(const HttpOptions& options) {
    if (!options.tls_certificate_file.empty()) {
      auto tls = TlsContext::load(options.tls_certificate_file, options.tls_key_file);
      if (!tls) return std::unexpected(std::move(tls.error()));
      state_.tls.publish(std::make_shared<const TlsContext>(std::move(*tls)));
    }
    if (auto opened = listener_->open(options.address, options.port); !opened) return opened;
    listener_->start();
    for (const auto& loop : loops_) threads_.emplace_back([&loop] { loop->run(); });
    return {};
  }

  std::uint16_t port() const noexcept override { return listener_->port(); }

  Result<void> renew(const HttpOptions& options) override {
    if (auto checked = check(options); !checked) return checked;
    const bool is_tls = state_.tls.pin() != nullptr;
    if (is_tls == options.tls_certificate_file.empty()) {
      return fail(ErrorKind::invalid, "a running daemon cannot begin or end to serve TLS");
    }
    if (is_tls) {
      auto tls = TlsContext::load(options.tls_certificate_file, options.tls_key_file);
      if (!tls) return std::unexpected(std::move(tls.error()));
      state_.tls.publish(std::make_shared<const TlsContext>(std::move(*tls)));
    }
    state_.gate.publish(std::make_shared<const TokenGate>(options.tokens));
    return {};
  }

  void publish(const SharedEvent& event) override {
    // One that slips by while the first viewer comes is a second less on its lines, no more.
    if (state_.streams.load(std::memory_order_relaxed) == 0) return;
    for (const auto& loop : loops_) loop->inbox()->push(event);
  }

  void stop() override {
    const std::lock_guard lock(stopping_);
    if (threads_.empty()) return;
    // The listener's loop comes to this before its own stop, so nothing is accepted behind its
    // back.
    listener_->request_stop();
    for (const auto& loop : loops_) loop->request_stop(state_.limits.shutdown_timeout);
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  ServerState state_;
  std::vector<std::unique_ptr<Loop>> loops_;
  std::unique_ptr<Listener> listener_;  // its sockets live on the first loop
  std::mutex stopping_;
  std::vector<std::thread> threads_;  // guarded by stopping_
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpOptions& options,
                                                      std::vector<Route> routes, const Clock& clock,
                                                      Log& log, runtime::Metrics& metrics,
                                                      Guesses& guesses,
                                                      runtime::MemoryBudget& memory) {
  if (auto checked = check(options); !checked) return std::unexpected(std::move(checked.error()));
  auto server = std::make_unique<BeastServer>(options, std::move(routes), clock, log, metrics,
                                              guesses, memory);
  if (auto opened = server->open(options); !opened) {
    return std::unexpected(std::move(opened.error()));
  }
  return server;
}

}  // namespace penstock::front
