// One thread of the server: an event loop, the sessions that live on it, and the memory they share
// while one of them is at work. All of it is touched by that thread only, but for inbox() and
// load().
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/time.h"
#include "front/http/server/asio.h"
#include "front/http/server/reply.h"
#include "front/http/server/server_state.h"
#include "front/http/server/session.h"
#include "runtime/clocks.h"
#include "wire/http/request_id.h"
#include "wire/http/response_writer.h"

namespace penstock::front {

class Loop {
 public:
  // `state` must outlive the loop.
  Loop(ServerState& state, std::uint32_t number);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Runs until a stop is over. The body of the loop's thread.
  void run();
  // On any thread: lets requests in flight finish until `timeout` has passed, then ends run().
  void request_stop(Millis timeout);

  boost::asio::io_context& context() noexcept { return context_; }
  const std::shared_ptr<Inbox>& inbox() const noexcept { return inbox_; }
  // Sessions here, those on the way included.
  std::atomic<std::size_t>& load() noexcept { return load_; }
  // Hands over a socket; closes it when the loop has ended.
  void give(AcceptedSocket&& socket);

  // For sessions, on the loop's thread.
  ServerState& state() noexcept { return state_; }
  bool stopping() const noexcept { return stopping_; }
  Micros now() const noexcept;
  std::string_view date_line();
  void make_request_id(std::string& id) { ids_.make(id); }
  void forget(Session& session, bool was_refused);  // it is closed
  void reap(Session& session);                      // deletes it when nothing refers to it any more

  // 64 KiB: one read takes what a socket's default receive buffer holds.
  std::array<char, 64 * 1024> received;
  std::string out;  // answers of the session at work; empty between events
  Request request;  // of the session at work

 private:
  void drain_inbox();
  void show(const SharedEvent& event);
  void adopt(AcceptedSocket&& socket);
  void schedule_tick();
  void tick();
  void begin_stop(Millis timeout);
  void end_if_done();
  void clear();

  ServerState& state_;
  const std::uint32_t number_;
  const runtime::Stopwatch since_start_;
  boost::asio::io_context context_;
  boost::asio::executor_work_guard<IoExecutor> work_;
  Timer ticker_;
  const Millis tick_period_;
  std::shared_ptr<Inbox> inbox_;
  std::atomic<std::size_t> load_{0};

  SessionList open_;
  SessionList closed_;  // waiting for the last reference: an answer or a cancelled wait
  bool ticking_ = false;
  bool stopping_ = false;
  Micros stop_deadline_{0};

  wire::RequestIds ids_;
  wire::DateLine date_;
  Inbox::Answers answers_;
  Inbox::Sockets sockets_;
  Inbox::Events events_;
};

}  // namespace penstock::front
