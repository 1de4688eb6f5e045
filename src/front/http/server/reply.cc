#include "front/http/server/reply.h"

#include "base/check.h"

namespace penstock::front {
namespace {

thread_local HandlerCall* current_call = nullptr;

// The target of a Reply. Answers exactly once: when called, else when destroyed.
class Responder {
 public:
  Responder(std::shared_ptr<Inbox> inbox, Session* session) noexcept
      : inbox_(std::move(inbox)), session_(session) {}
  Responder(Responder&& other) noexcept
      : inbox_(std::move(other.inbox_)), session_(std::exchange(other.session_, nullptr)) {}
  Responder& operator=(Responder&&) = delete;
  ~Responder() {
    if (session_) deliver(std::nullopt);
  }

  void operator()(Response&& response) {
    PENSTOCK_CHECK(session_ != nullptr);  // a second answer to one request
    deliver(std::move(response));
  }

 private:
  void deliver(Answer&& answer) {
    Session* const session = std::exchange(session_, nullptr);
    if (HandlerCall* const call = HandlerCall::of(session)) {
      call->answered = true;
      call->answer = std::move(answer);
    } else {
      inbox_->push(session, std::move(answer));
    }
  }

  std::shared_ptr<Inbox> inbox_;
  Session* session_;
};
// move_only_function keeps three words inline: a Reply costs no memory.
static_assert(sizeof(Responder) <= 3 * sizeof(void*));

}  // namespace

void Inbox::wake() {
  if (std::exchange(woken_, true)) return;
  wake_();
}

void Inbox::push(Session* session, Answer&& answer) {
  const std::lock_guard lock(mutex_);
  if (!wake_) return;
  answers_.emplace_back(session, std::move(answer));
  wake();
}

bool Inbox::push(AcceptedSocket&& socket) {
  const std::lock_guard lock(mutex_);
  if (!wake_) return false;
  sockets_.push_back(std::move(socket));
  wake();
  return true;
}

void Inbox::push(const SharedEvent& event) {
  const std::lock_guard lock(mutex_);
  if (!wake_) return;
  events_.push_back(event);
  wake();
}

void Inbox::take(Answers& answers, Sockets& sockets, Events& events) {
  const std::lock_guard lock(mutex_);
  woken_ = false;
  answers_.swap(answers);
  sockets_.swap(sockets);
  events_.swap(events);
}

Inbox::Sockets Inbox::close() {
  const std::lock_guard lock(mutex_);
  wake_ = nullptr;
  answers_.clear();
  events_.clear();
  return std::exchange(sockets_, {});
}

HandlerCall::HandlerCall(const Session* session) noexcept : session_(session) {
  current_call = this;
}

HandlerCall::~HandlerCall() { current_call = nullptr; }

HandlerCall* HandlerCall::of(const Session* session) noexcept {
  return current_call && current_call->session_ == session ? current_call : nullptr;
}

Reply make_reply(std::shared_ptr<Inbox> inbox, Session* session) {
  return Responder(std::move(inbox), session);
}

}  // namespace penstock::front
