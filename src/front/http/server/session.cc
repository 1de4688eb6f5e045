#include "front/http/server/session.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "front/http/server/loop.h"
#include "wire/http/errors.h"

namespace penstock::front {
namespace {

constexpr Micros kNever = Micros::max();

}  // namespace

Session::Session(Loop& loop, AcceptedSocket&& socket)
    : loop_(loop),
      socket_(loop.context()),
      transport_(socket.fd),
      reader_(loop.state().head_limits),
      peer_address_(std::move(socket.peer_address)),
      refused_(socket.refuse),
      deadline_(kNever),
      charge_(loop.state().memory) {
  // The protocol is only remembered; both families behave alike from here on.
  IoError error;
  socket_.assign(boost::asio::ip::tcp::v4(), socket.fd, error);
  if (error) {
    ::close(socket.fd);
  } else if (loop.state().guard.needs_local_address()) {
    local_address_ = socket_.local_endpoint(error).address().to_string();
  }
}

Session::~Session() = default;

void Session::start() {
  if (!socket_.is_open()) return close();
  const HttpLimits& limits = loop_.state().limits;
  if (refused_) {
    if (loop_.state().tls.pin()) return close();  // no handshake for a connection we do not want
    return refuse_and_close(503, "too many connections");
  }
  if (const auto tls = loop_.state().tls.pin()) {
    SslSession session = tls->accept_on(socket_.native_handle());
    if (!session) return close();
    transport_.secure(std::move(session));
    phase_ = Phase::handshake;
    deadline_ = loop_.now() + limits.header_timeout;
    return shake_hands();
  }
  deadline_ = loop_.now() + limits.idle_timeout;
  wait(Wait::read);
}

void Session::wait(Wait kind) {
  if (waiting_) return;  // a wait that outlived its purpose serves as well
  if (kind == Wait::read && transport_.has_pending()) return wait_for_turn();
  waiting_ = true;
  // The session is deleted only when it does not wait, so a plain pointer is safe.
  socket_.async_wait(kind == Wait::read ? TcpSocket::wait_read : TcpSocket::wait_write,
                     [this](const IoError&) { wake(); });
}

// Until the loop has been through what is ready now.
void Session::wait_for_turn() {
  waiting_ = true;
  boost::asio::post(loop_.context(), [this] { wake(); });
}

void Session::wake() {
  waiting_ = false;
  on_ready();
  loop_.reap(*this);  // last: it may delete this
}

void Session::wait_for(Transport::Status status) {
  wait(status == Transport::Status::want_write ? Wait::write : Wait::read);
}

void Session::on_ready() {
  switch (phase_) {
    case Phase::closed:
      return;
    case Phase::handshake:
      return shake_hands();
    case Phase::writing:
      return resume_writing();
    case Phase::yielding:
      return serve();
    case Phase::streaming:
      return view();
    case Phase::lingering:
      return linger();
    default:
      return receive();
  }
}

void Session::shake_hands() {
  switch (const auto outcome = transport_.handshake(); outcome.status) {
    case Transport::Status::done:
      phase_ = Phase::idle;
      deadline_ = loop_.now() + loop_.state().limits.idle_timeout;
      return wait(Wait::read);
    case Transport::Status::closed:
      return close();
    default:
      return wait_for(outcome.status);
  }
}

void Session::receive() {
  const auto outcome = transport_.read(loop_.received);
  if (outcome.status == Transport::Status::closed) return close();
  if (outcome.status != Transport::Status::done) return wait_for(outcome.status);
  reader_.feed({loop_.received.data(), outcome.bytes});
  serve();
}

// The end of a turn: nothing more can be done now but write and wait.
void Session::rest() {
  if (closing_) {
    lingers_ = lingers_ || reader_.has_unread();
    reader_.abandon();
    charge_.force(std::min(answer_bytes_, charge_.bytes()));
    if (flush()) end();
    return;
  }
  reader_.park();
  if (reader_.place() == wire::RequestReader::Place::in_body) {
    work_bytes_ = kWorkFactor * reader_.body_bytes();
  }
  if (!charge()) return refuse_and_close(503, kNoMemory);
  if (!flush()) return;
  enter_phase_of_reader();
  if (phase_ == Phase::idle && loop_.stopping()) return close();
  wait(Wait::read);
}

// Lets the loop's other sessions go first; one client's pipeline must not hold up the rest.
void Session::yield() {
  reader_.park();
  if (!charge()) return refuse_and_close(503, kNoMemory);
  if (!flush()) return;
  phase_ = Phase::yielding;
  deadline_ = kNever;
  wait_for_turn();
}

void Session::enter_phase_of_reader() {
  const HttpLimits& limits = loop_.state().limits;
  const Micros now = loop_.now();
  switch (reader_.place()) {
    case wire::RequestReader::Place::between_requests:
      phase_ = Phase::idle;
      deadline_ = now + limits.idle_timeout;
      return;
    case wire::RequestReader::Place::in_head:
      if (phase_ != Phase::head) deadline_ = now + limits.header_timeout;
      phase_ = Phase::head;
      return;
    case wire::RequestReader::Place::in_discarded_body:
      if (phase_ != Phase::discard) deadline_ = now + limits.body_grace;
      phase_ = Phase::discard;
      return;
    case wire::RequestReader::Place::in_body:
      break;
  }
  // Each byte buys its share of a second, and the store of time is never above the grace: a body
  // that stops is noticed whatever came before it.
  const Micros grace = limits.body_grace;
  if (phase_ != Phase::body) deadline_ = now + grace;
  phase_ = Phase::body;
  const auto fresh = static_cast<std::int64_t>(reader_.body_bytes() - body_bytes_seen_);
  body_bytes_seen_ = reader_.body_bytes();
  const auto rate =
      static_cast<std::int64_t>(std::max<std::size_t>(limits.body_bytes_per_second, 1));
  deadline_ = std::min(deadline_ + Micros{fresh * Micros::period::den / rate}, now + grace);
}

// Sends what the turn has produced. False: it did not all go; the session waits or is closed.
bool Session::flush() {
  if (loop_.out.empty()) return true;
  std::size_t sent = 0;
  while (sent < loop_.out.size()) {
    const auto outcome = transport_.write(std::string_view(loop_.out).substr(sent));
    if (outcome.status == Transport::Status::done) {
      sent += outcome.bytes;
      continue;
    }
    if (outcome.status == Transport::Status::closed) {
      loop_.out.clear();
      close();
      return false;
    }
    unsent_ = std::exchange(loop_.out, {});
    sent_ = sent;
    answer_bytes_ = 0;
    if (!charge()) {  // the client learns no more than from any connection that is lost
      close();
      return false;
    }
    phase_ = Phase::writing;
    deadline_ = loop_.now() + loop_.state().limits.idle_timeout;
    wait_for(outcome.status);
    return false;
  }
  // One huge answer must not stay with the thread for ever.
  constexpr std::size_t kKeptBytesMax = 256 * 1024;
  if (loop_.out.capacity() > kKeptBytesMax) std::string().swap(loop_.out);
  loop_.out.clear();
  if (std::exchange(answer_bytes_, 0) > 0 && !charge()) {
    close();
    return false;
  }
  return true;
}

void Session::resume_writing() {
  while (sent_ < unsent_.size()) {
    const auto outcome = transport_.write(std::string_view(unsent_).substr(sent_));
    if (outcome.status == Transport::Status::closed) return close();
    if (outcome.status != Transport::Status::done) return wait_for(outcome.status);
    sent_ += outcome.bytes;
    // As for bodies: a reader must keep up the same modest rate, with the idle time as its store.
    const HttpLimits& limits = loop_.state().limits;
    const auto rate =
        static_cast<std::int64_t>(std::max<std::size_t>(limits.body_bytes_per_second, 1));
    const Micros earned{static_cast<std::int64_t>(outcome.bytes) * Micros::period::den / rate};
    deadline_ = std::min<Micros>(deadline_ + earned, loop_.now() + limits.idle_timeout);
  }
  std::string().swap(unsent_);
  sent_ = 0;
  if (!charge()) return close();
  if (answering_) {
    phase_ = Phase::handling;
    deadline_ = kNever;
    return;
  }
  if (closing_) return rest();
  serve();
}

// All is written and no request follows.
void Session::end() {
  if (streaming_) {
    phase_ = Phase::streaming;
    deadline_ = kNever;
    return wait(Wait::read);
  }
  if (!lingers_) return close();
  transport_.finish_writing();
  phase_ = Phase::lingering;
  deadline_ = loop_.now() + loop_.state().limits.drain_timeout;
  wait(Wait::read);
}

// A viewer has nothing more to say: whatever comes is dropped, and its end is what we wait for.
void Session::view() {
  const auto outcome = transport_.read(loop_.received);
  if (outcome.status == Transport::Status::closed) return close();
  if (outcome.status != Transport::Status::done) return wait_for(outcome.status);
  drained_bytes_ += outcome.bytes;
  if (drained_bytes_ > loop_.state().limits.drain_bytes) return close();
  wait(Wait::read);
}

void Session::on_event(const StreamEvent& event) {
  if (!streaming_ || phase_ == Phase::closed || event.number <= stream_after_) return;
  stream_after_ = event.number;
  if (phase_ == Phase::streaming) {
    loop_.out += event.bytes;
    // The wait under way is one for reading; ended, it comes back as one for writing.
    IoError ignored;
    if (!flush() && phase_ == Phase::writing) socket_.cancel(ignored);
    return;
  }
  if (unsent_.size() - sent_ > loop_.state().limits.stream_unread_bytes) return close();
  // What went out already need not be kept, or a viewer that is always a little late would make
  // the rest grow for ever.
  unsent_.erase(0, std::exchange(sent_, 0));
  unsent_ += event.bytes;
  if (!charge()) close();
}

// Closing with unread bytes makes the kernel reset the connection, and the client lose our answer.
void Session::linger() {
  const auto outcome = transport_.read(loop_.received);
  if (outcome.status == Transport::Status::closed) return close();
  if (outcome.status == Transport::Status::done) {
    drained_bytes_ += outcome.bytes;
    if (drained_bytes_ > loop_.state().limits.drain_bytes) return close();
    return wait(Wait::read);
  }
  wait_for(outcome.status);
}

void Session::on_tick(Micros now) {
  if (now < deadline_) return;
  switch (phase_) {
    case Phase::head:
      return refuse_and_close(408, "the header did not come in time");
    case Phase::body:
      return refuse_and_close(408, "the body came too slowly");
    default:
      return close();
  }
}

void Session::on_stop() {
  const bool at_rest =
      phase_ == Phase::idle || phase_ == Phase::handshake || phase_ == Phase::lingering;
  if (at_rest || streaming_) close();
}

void Session::close() {
  if (phase_ == Phase::closed) return;
  phase_ = Phase::closed;
  deadline_ = kNever;
  if (streaming_) {
    loop_.state().streams.fetch_sub(1, std::memory_order_relaxed);
    loop_.state().metrics.streams.add(-1);
  }
  IoError ignored;
  socket_.close(ignored);
  std::string().swap(unsent_);
  reader_.abandon();
  // A client that hangs up ends nothing: what its request takes stays charged until the answer.
  charge_.force(answering_ ? std::min(work_bytes_, charge_.bytes()) : 0);
  loop_.forget(*this, refused_);
}

// Brings the charge in line with what is held. False: there is no room for it.
bool Session::charge() {
  const std::size_t bytes =
      std::max(reader_.held_bytes(), work_bytes_) + unsent_.capacity() + answer_bytes_;
  return charge_.try_resize(bytes <= kFreeBytes ? 0 : bytes);
}

}  // namespace penstock::front
