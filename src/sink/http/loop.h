// The threads behind an HttpClient: the event loop that its sinks live on, and name resolution
// beside it, since the machine's resolver blocks. resolve() and the accessors are for the loop's
// thread and for whoever is to post to it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "runtime/clocks.h"
#include "runtime/task_queue.h"
#include "sink/http/asio.h"
#include "sink/http/http_client.h"

namespace penstock::sink {

class Loop {
 public:
  using Addresses = std::vector<Tcp::endpoint>;  // at least one
  using Resolved = std::move_only_function<void(Result<Addresses>&&)>;

  // `clock` must outlive the loop.
  Loop(const Clock& clock, HttpClientOptions options, TlsContext tls);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  boost::asio::io_context& context() noexcept { return context_; }
  TlsContext& tls() noexcept { return tls_; }
  const HttpClientOptions& options() const noexcept { return options_; }
  Instant wall_time() const noexcept { return clock_.now(); }
  Micros now() const noexcept;  // steady; since the loop was made
  bool is_this_thread() const noexcept { return std::this_thread::get_id() == thread_.get_id(); }

  // Calls `done` on the loop's thread, later.
  void resolve(const std::string& host, std::uint16_t port, Resolved done);

 private:
  void run();

  const Clock& clock_;
  const HttpClientOptions options_;
  const runtime::Stopwatch since_start_;
  TlsContext tls_;
  boost::asio::io_context context_{1};  // one thread runs it
  boost::asio::executor_work_guard<IoExecutor> work_{context_.get_executor()};
  runtime::TaskQueue resolver_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace penstock::sink
