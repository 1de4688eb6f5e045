#include "front/http/server/loop.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>

#include <fmt/format.h>

#include "front/http/server/session.h"
#include "runtime/threads.h"

namespace penstock::front {
namespace {

// Coarse: a time limit may be passed by a quarter of the shortest one, or half a second. Short
// limits are for tests.
Millis tick_period(const HttpLimits& limits) {
  const Millis shortest = std::min({limits.header_timeout, limits.idle_timeout, limits.body_grace,
                                    limits.drain_timeout, limits.shutdown_timeout});
  return std::clamp(shortest / 4, Millis{5}, Millis{500});
}

}  // namespace

void SessionList::add(Session& session) noexcept {
  session.link = {.previous = nullptr, .next = first_};
  if (first_) first_->link.previous = &session;
  first_ = &session;
}

void SessionList::remove(Session& session) noexcept {
  const SessionLink link = session.link;
  (link.previous ? link.previous->link.next : first_) = link.next;
  if (link.next) link.next->link.previous = link.previous;
  session.link = {};
}

Loop::Loop(ServerState& state, std::uint32_t number)
    : state_(state),
      number_(number),
      context_(1),  // one thread runs it
      work_(context_.get_executor()),
      ticker_(context_),
      tick_period_(tick_period(state.limits)),
      inbox_(std::make_shared<Inbox>(
          [this] { boost::asio::post(context_, [this] { drain_inbox(); }); })),
      ids_(state.request_id_seed, number) {}

Loop::~Loop() { clear(); }

void Loop::clear() {
  // Replies may outlive the server: from here on they find the inbox closed.
  for (const AcceptedSocket& socket : inbox_->close()) {
    ::close(socket.fd);
    (socket.refuse ? state_.refusals : state_.connections).fetch_sub(1, std::memory_order_relaxed);
  }
  while (Session* const session = open_.first()) session->close();
  while (Session* const session = closed_.first()) {
    closed_.remove(*session);
    delete session;
  }
}

void Loop::run() {
  runtime::set_thread_name(fmt::format("http-{}", number_));
  // Signals are the main thread's; a broken pipe under TLS is an error code here.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  context_.run();
  clear();
}

Micros Loop::now() const noexcept {
  return std::chrono::duration_cast<Micros>(std::chrono::duration<double>(since_start_.seconds()));
}

std::string_view Loop::date_line() { return date_.at(state_.clock.now()); }

void Loop::give(AcceptedSocket&& socket) {
  const int fd = socket.fd;
  const bool refuse = socket.refuse;
  load_.fetch_add(1, std::memory_order_relaxed);
  if (inbox_->push(std::move(socket))) return;
  ::close(fd);
  load_.fetch_sub(1, std::memory_order_relaxed);
  (refuse ? state_.refusals : state_.connections).fetch_sub(1, std::memory_order_relaxed);
}

void Loop::drain_inbox() {
  inbox_->take(answers_, sockets_, events_);
  for (auto& [session, answer] : answers_) {
    session->on_answer(std::move(answer));
    reap(*session);
  }
  answers_.clear();
  for (AcceptedSocket& socket : sockets_) adopt(std::move(socket));
  sockets_.clear();
  for (const SharedEvent& event : events_) show(event);
  events_.clear();
}

void Loop::show(const SharedEvent& event) {
  for (Session* session = open_.first(); session != nullptr;) {
    Session* const next = session->link.next;
    session->on_event(*event);
    reap(*session);
    session = next;
  }
}

void Loop::adopt(AcceptedSocket&& socket) {
  if (!socket.refuse) state_.metrics.connections.add(1);
  auto* const session = new Session(*this, std::move(socket));
  open_.add(*session);
  session->start();
  if (stopping_) session->on_stop();
  reap(*session);
  if (!ticking_ && !open_.empty()) schedule_tick();
}

void Loop::forget(Session& session, bool was_refused) {
  open_.remove(session);
  closed_.add(session);
  load_.fetch_sub(1, std::memory_order_relaxed);
  if (was_refused) {
    state_.refusals.fetch_sub(1, std::memory_order_relaxed);
  } else {
    state_.connections.fetch_sub(1, std::memory_order_relaxed);
    state_.metrics.connections.add(-1);
  }
  end_if_done();
}

void Loop::reap(Session& session) {
  if (!session.is_finished()) return;
  closed_.remove(session);
  delete &session;
}

// Only while there are sessions: an idle server does not wake up.
void Loop::schedule_tick() {
  ticking_ = true;
  ticker_.expires_after(tick_period_);
  ticker_.async_wait([this](const IoError&) { tick(); });
}

void Loop::tick() {
  ticking_ = false;
  const Micros at = now();
  const bool over = stopping_ && at >= stop_deadline_;
  for (Session* session = open_.first(); session != nullptr;) {
    Session* const next = session->link.next;
    if (over) {
      session->close();
    } else {
      session->on_tick(at);
    }
    reap(*session);
    session = next;
  }
  if (!open_.empty()) schedule_tick();
}

void Loop::request_stop(Millis timeout) {
  boost::asio::post(context_, [this, timeout] { begin_stop(timeout); });
}

void Loop::begin_stop(Millis timeout) {
  stopping_ = true;
  stop_deadline_ = now() + timeout;
  for (Session* session = open_.first(); session != nullptr;) {
    Session* const next = session->link.next;
    session->on_stop();
    reap(*session);
    session = next;
  }
  if (!ticking_ && !open_.empty()) schedule_tick();
  end_if_done();
}

void Loop::end_if_done() {
  if (stopping_ && open_.empty()) context_.stop();
}

}  // namespace penstock::front
