// The way back from a handler to the connection that asked. Handlers answer on any thread, at once,
// later or (by dropping the Reply) never; the connection may be gone by then.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "front/http/http.h"

namespace penstock::front {

class Session;

// What a handler gave: a response, or nothing when it dropped its Reply.
using Answer = std::optional<Response>;

struct AcceptedSocket {
  int fd = -1;
  std::string peer_address;
  bool refuse = false;  // too many connections: say so and close
};

// What other threads leave for a loop. Safe on any thread. Lives as long as the last Reply, which
// may be longer than the server: after close() everything is dropped.
class Inbox {
 public:
  // `wake` is called on the thread that leaves something, once per take().
  explicit Inbox(std::function<void()> wake) : wake_(std::move(wake)) {}

  void push(Session* session, Answer&& answer);
  // False: closed; the socket is still the caller's.
  [[nodiscard]] bool push(AcceptedSocket&& socket);
  void push(const SharedEvent& event);

  using Answers = std::vector<std::pair<Session*, Answer>>;
  using Sockets = std::vector<AcceptedSocket>;
  // Swaps what is there for the empty lists given, so that their memory goes round.
  using Events = std::vector<SharedEvent>;
  void take(Answers& answers, Sockets& sockets, Events& events);
  // Gives back the sockets that nobody took.
  Sockets close();

 private:
  void wake();

  std::mutex mutex_;
  std::function<void()> wake_;  // guarded by mutex_, null when closed
  bool woken_ = false;          // guarded by mutex_
  Answers answers_;             // guarded by mutex_
  Sockets sockets_;             // guarded by mutex_
  Events events_;               // guarded by mutex_
};

// Marks, for its lifetime, that this thread runs the handler of `session`: an answer given
// meanwhile is caught here and needs no inbox.
class HandlerCall {
 public:
  explicit HandlerCall(const Session* session) noexcept;
  ~HandlerCall();
  HandlerCall(const HandlerCall&) = delete;
  HandlerCall& operator=(const HandlerCall&) = delete;

  bool answered = false;
  Answer answer;

  static HandlerCall* of(const Session* session) noexcept;

 private:
  const Session* const session_;
};

Reply make_reply(std::shared_ptr<Inbox> inbox, Session* session);

}  // namespace penstock::front
