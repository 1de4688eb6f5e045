// One connection: reads requests, has them handled one after another, writes the answers in order.
// Lives on its loop's thread and is touched by no other. Deleted by the loop once it is closed and
// neither the event loop nor a handler refers to it any more.
//
// Requests that were pipelined are handled strictly one by one: HTTP allows overlap only for safe
// methods, and the order of effects is worth more than the overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "front/http/server/asio.h"
#include "front/http/server/reply.h"
#include "front/http/server/tls.h"
#include "front/http/server/tokens.h"
#include "runtime/memory_budget.h"
#include "wire/http/request_reader.h"

namespace penstock::front {

// A list of sessions whose links are in the sessions: adding and removing costs no memory. One
// thread.
class Session;

struct SessionLink {
  Session* previous = nullptr;
  Session* next = nullptr;
};

class SessionList {
 public:
  void add(Session& session) noexcept;
  void remove(Session& session) noexcept;
  Session* first() const noexcept { return first_; }
  bool empty() const noexcept { return first_ == nullptr; }

 private:
  Session* first_ = nullptr;
};

class Loop;

inline constexpr std::string_view kNoMemory =
    "too much is under way: the memory for requests is used up";

class Session {
 public:
  Session(Loop& loop, AcceptedSocket&& socket);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start();
  void on_answer(Answer&& answer);
  void on_event(const StreamEvent& event);  // ignored unless it views the stream
  void on_tick(Micros now);
  void on_stop();  // the server stops: closes unless a request is under way
  void close();

  // Closed, and nobody will call it any more.
  bool is_finished() const noexcept { return phase_ == Phase::closed && !waiting_ && !answering_; }

  SessionLink link;  // the loop's

 private:
  // What the connection waits for; each has its own time limit.
  enum class Phase : std::uint8_t {
    handshake,
    idle,       // the next request
    head,       // the rest of a head
    body,       // the rest of a body
    discard,    // the rest of a body nobody wants
    handling,   // the handler's answer
    writing,    // room to send; the answer may be outstanding too
    yielding,   // the others' turn; more requests are at hand
    streaming,  // the next event, and the client to leave
    lingering,  // the client to have read our last answer
    closed,
  };
  enum class Wait : std::uint8_t { read, write };
  // Enough for the smallest segment to be worth a system call, small against a socket's buffer.
  static constexpr std::size_t kFlushBytes = 64 * 1024;
  // A request takes this many times its body's bytes, from its being read to its answer. Measured:
  // 16 batches of 14 MiB at once on the embedded store took 2.7 times their bytes for items with
  // large contexts, 2.6 for payments, 1.1 for slots and throttle. The buffer is read into calls,
  // and those are copied into the store's write.
  static constexpr std::size_t kWorkFactor = 3;
  // Less is not worth an atomic shared by all threads.
  static constexpr std::size_t kFreeBytes = 2 * 1024;
  // An entry of a batch takes at least this, were it `{}`: a call, what is wrong with it, an
  // answer.
  static constexpr std::size_t kEntryBytes = 384;
  // Pipelined requests handled in one go, before the loop's other sessions get their turn.
  static constexpr int kRequestsPerTurn = 32;

  // session.cc: the connection.
  void wait(Wait kind);
  void wait_for(Transport::Status status);
  void wait_for_turn();
  void wake();
  void on_ready();
  void shake_hands();
  void receive();
  void rest();
  void yield();
  void enter_phase_of_reader();
  bool flush();
  void resume_writing();
  void end();
  void view();
  void linger();
  [[nodiscard]] bool charge();

  // session_requests.cc: the requests on it.
  void serve();
  void admit();
  const Route* find_route();
  std::optional<wire::Refusal> judge(const Route& route, const TokenGate& gate);
  bool has_to_wait(SecretKind secret);
  void admit_body(const Route& route);
  bool handle();
  void answer(Answer&& answer);
  Response no_memory();
  void respond(const Response& response);
  bool begin_stream(std::uint64_t after);
  void refuse(int status, std::string_view message, Header extra = {});
  void refuse(const Response& response);
  void refuse_and_close(int status, std::string_view message);
  void choose_request_id(std::string_view from_client);
  void record(int status);

  Loop& loop_;
  TcpSocket socket_;
  Transport transport_;
  wire::RequestReader reader_;
  std::string peer_address_;
  std::string local_address_;       // empty unless it matters
  std::uint8_t known_secrets_ = 0;  // that were right here: their next use is no guess
  Seconds wait_{0};                 // for more wrong tokens, when judge() gave 429

  Phase phase_ = Phase::idle;
  bool waiting_ = false;    // the event loop will call on_ready
  bool answering_ = false;  // a handler will answer
  bool closing_ = false;    // no more requests; ends once all is written
  bool lingers_ = false;    // the client may still be sending when we end
  bool streaming_ = false;  // the answer goes on with events, and is the last one
  bool refused_ = false;    // one connection too many: counted apart
  Micros deadline_;
  std::uint64_t stream_after_ = 0;  // events up to here were in the answer
  std::size_t drained_bytes_ = 0;
  std::size_t body_bytes_seen_ = 0;

  // Of the request under way.
  std::size_t work_bytes_ = 0;  // what it takes until its answer is given, as far as it has come
  // Of its charge, what the answers in the loop's `out` keep: they had room, and must not lose it.
  std::size_t answer_bytes_ = 0;
  wire::Framing framing_;
  Method method_ = Method::other;
  Micros started_{0};
  std::string request_id_;
  const Route* route_ = nullptr;

  std::string unsent_;
  std::size_t sent_ = 0;    // of unsent_
  runtime::Charge charge_;  // for all of the above; kept after close() while a handler works
};

}  // namespace penstock::front
