#include "sink/http/connection.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/write.hpp>

#include "sink/address_guard.h"

namespace penstock::sink {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kReadBytes = 4 * 1024;  // more than most answers; it grows for a larger head
constexpr std::size_t kReadBytesMax = 64 * 1024;  // more than the head's limit

wire::IpAddress plain_address(const asio::ip::address& address) {
  if (address.is_v6()) return {.bytes = address.to_v6().to_bytes()};
  return {.bytes = asio::ip::make_address_v6(asio::ip::v4_mapped, address.to_v4()).to_bytes()};
}

// The host that the certificate must be for, and the name that tells the server which one to show.
bool expect_host(SSL* session, const std::string& host) {
  IoError not_numeric;
  asio::ip::make_address(host, not_numeric);
  if (!not_numeric) {
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host.c_str()) == 1;
  }
  // A dot at the end is for the resolver; certificates have none.
  const std::string name = host.ends_with('.') ? host.substr(0, host.size() - 1) : host;
  return SSL_set1_host(session, name.c_str()) == 1 &&
         SSL_set_tlsext_host_name(session, name.c_str()) == 1;
}

std::string tls_problem(SSL* session, const IoError& error) {
  const long verified = SSL_get_verify_result(session);
  if (verified == X509_V_OK) return error.message();
  return fmt::format("the certificate is not good: {}", X509_verify_cert_error_string(verified));
}

}  // namespace

Connection::Connection(Channel& channel)
    : channel_(&channel),
      loop_(channel.loop()),
      born_at_(loop_.now()),
      socket_(loop_.context()),
      attempt_timer_(loop_.context()) {}

void Connection::open(CallRef call) {
  call_ = call;
  channel_->find_addresses(shared_from_this());
}

void Connection::connect_to(const Loop::Addresses& addresses) {
  if (state_ != State::connecting) return;
  addresses_.assign(addresses.rbegin(), addresses.rend());
  connect_next();
}

void Connection::connect_next() {
  while (!addresses_.empty()) {
    const Tcp::endpoint address = addresses_.back();
    if (loop_.options().refuse_private_addresses &&
        !is_public_address(plain_address(address.address()))) {
      problem_ = address.address().to_string() + " is not a public address";
      addresses_.pop_back();
      continue;
    }
    IoError error;
    if (socket_.is_open()) socket_.close(error);
    bound_attempt();
    return socket_.async_connect(address, [self = shared_from_this()](const IoError& outcome) {
      self->on_connected(outcome);
    });
  }
  // Later, since whoever started the call is not ready for its end.
  asio::post(loop_.context(), [self = shared_from_this()] {
    if (self->state_ != State::connecting) return;
    self->channel_->on_unreachable();
    self->fail("cannot connect: " + self->problem_);
  });
}

// An address that swallows everything leaves time for the others.
void Connection::bound_attempt() {
  if (addresses_.size() < 2) {
    attempt_timer_.cancel();
    return;
  }
  const auto left = std::max(call_->deadline - loop_.now(), Micros{0});
  attempt_timer_.expires_after(left / static_cast<std::int64_t>(addresses_.size()));
  attempt_timer_.async_wait([self = shared_from_this()](const IoError& error) {
    IoError ignored;
    if (!error && self->state_ == State::connecting) self->socket_.cancel(ignored);
  });
}

void Connection::on_connected(const IoError& error) {
  if (state_ != State::connecting) return;
  if (error) {
    problem_ = error == asio::error::operation_aborted ? "no answer" : error.message();
    addresses_.pop_back();
    return connect_next();
  }
  attempt_timer_.cancel();
  channel_->on_connected(addresses_.back());
  IoError ignored;
  socket_.set_option(Tcp::no_delay(true), ignored);
  if (channel_->url().tls) return begin_tls();
  begin_call();
}

void Connection::begin_tls() {
  tls_.emplace(socket_, loop_.tls());
  if (!expect_host(tls_->native_handle(), channel_->url().host)) {
    ERR_clear_error();
    return fail("TLS: the host name cannot be checked");
  }
  tls_->async_handshake(asio::ssl::stream_base::client,
                        [self = shared_from_this()](const IoError& error) {
                          if (self->state_ != State::connecting) return;
                          if (!error) return self->begin_call();
                          self->fail("TLS: " + tls_problem(self->tls_->native_handle(), error));
                        });
}

void Connection::begin_call() {
  in_.resize(kReadBytes);
  send(call_);
}

void Connection::send(CallRef call) {
  reused_ = state_ == State::free;
  if (loop_.now() > call->send_by) {
    state_ = State::free;
    return channel_->give_back(call);
  }
  state_ = State::busy;
  call_ = call;
  answer_.restart();
  write_error_ = {};
  read_error_ = {};
  context_ = std::move(call->item.context);
  if (context_.empty()) context_ = "null";
  if (channel_->writer().write(out_, call->item, context_, loop_.wall_time())) {
    write();
    return read();
  }
  asio::post(loop_.context(), [self = shared_from_this()] {
    if (self->state_ != State::busy) return;
    Channel* const channel = self->channel_;
    self->close();
    channel->finish(self->call_,
                    {.outcome = SinkOutcome::refused, .detail = "its id cannot stand in a header"},
                    nullptr);
  });
}

void Connection::write() {
  writing_ = true;
  const std::array<asio::const_buffer, 3> parts = {
      asio::buffer(out_), asio::buffer(context_),
      asio::buffer(RequestWriter::kBodyEnd.data(), RequestWriter::kBodyEnd.size())};
  auto done = [self = shared_from_this()](const IoError& error, std::size_t) {
    self->on_written(error);
  };
  if (tls_) return asio::async_write(*tls_, parts, std::move(done));
  asio::async_write(socket_, parts, std::move(done));
}

void Connection::on_written(const IoError& error) {
  if (state_ == State::closed) return;
  writing_ = false;
  write_error_ = error;
  if (error && reused_ && !answer_.has_begun() && !call_->repeated) {
    // The peer had closed it already: what was never taken over cannot have been worked on.
    Channel* const channel = channel_;
    call_->item.context = std::move(context_);
    const std::shared_ptr<Connection> alive = std::move(call_->connection);
    close();
    return channel->repeat(call_);
  }
  if (read_error_) return on_read_end(read_error_);
  // When the write failed on the way, the peer may have said why: reading tells.
}

void Connection::read() {
  auto done = [self = shared_from_this()](const IoError& error, std::size_t bytes) {
    self->on_read(error, bytes);
  };
  const auto room = asio::buffer(in_.data() + filled_, in_.size() - filled_);
  if (tls_) return tls_->async_read_some(room, std::move(done));
  socket_.async_read_some(room, std::move(done));
}

void Connection::on_read(const IoError& error, std::size_t bytes) {
  if (state_ == State::closed) return;
  if (error) return on_read_end(error);
  filled_ += bytes;
  take_answer();
}

void Connection::take_answer() {
  const auto [state, used] = answer_.read({in_.data(), filled_});
  std::copy(in_.data() + used, in_.data() + filled_, in_.data());
  filled_ -= used;
  switch (state) {
    case AnswerReader::State::need_more:
      if (filled_ < in_.size()) return read();
      if (filled_ >= kReadBytesMax) return give_up();
      in_.resize(in_.size() * 2);
      return read();
    case AnswerReader::State::complete:
      return conclude(!writing_ && filled_ == 0 && answer_.keeps_alive());
    case AnswerReader::State::broken:
      return give_up();
  }
}

void Connection::give_up() {
  if (answer_.has_status()) return conclude(false);
  fail("the answer is not HTTP, or its head is too large");
}

void Connection::on_read_end(const IoError& error) {
  if (answer_.has_status()) return conclude(false);
  if (writing_) {  // whether it was sent at all tells what to do
    read_error_ = error;
    return;
  }
  if (write_error_) return fail("cannot send: " + write_error_.message());
  const bool closed = error == asio::error::eof || error == asio::ssl::error::stream_truncated;
  if (closed) return fail("the connection was closed before an answer");
  fail("no answer: " + error.message());
}

// The status stands as soon as the head is there: the body only decides whether the connection can
// be used again.
void Connection::conclude(bool reusable) {
  SinkAnswer answer = judge_answer(answer_.status(), answer_.retry_after(), loop_.wall_time());
  Channel* const channel = channel_;
  const CallRef call = call_;
  const std::shared_ptr<Connection> alive = shared_from_this();
  if (reusable) {
    state_ = State::free;
  } else {
    close();
  }
  channel->finish(call, std::move(answer), reusable ? this : nullptr);
}

void Connection::fail(std::string why) {
  if (state_ == State::closed) return;
  Channel* const channel = channel_;
  const std::shared_ptr<Connection> alive = shared_from_this();
  close();
  channel->finish(call_, {.outcome = SinkOutcome::failed, .detail = std::move(why)}, nullptr);
}

void Connection::expire(Millis timeout) {
  if (state_ == State::busy && answer_.has_status()) return conclude(false);
  fail(fmt::format("timed out after {} ms, {}", timeout.count(),
                   state_ == State::connecting ? "connecting" : "waiting for the answer"));
}

bool Connection::is_usable() noexcept {
  if (state_ != State::free) return false;
  if (tls_) {  // what was read from the socket already
    SSL* const session = tls_->native_handle();
    if (SSL_pending(session) > 0 || BIO_ctrl_pending(SSL_get_rbio(session)) > 0) return false;
  }
  char byte;
  const ssize_t got = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

// Nothing is read meanwhile, so that is_usable() sees what came.
void Connection::rest() {
  if (std::exchange(watched_, true)) return;  // still, since it rested last
  socket_.async_wait(TcpSocket::wait_read, [self = shared_from_this()](const IoError&) {
    self->watched_ = false;
    self->on_stir();
  });
}

void Connection::on_stir() {
  if (state_ != State::free) return;  // the answer to a later call
  if (is_usable()) return rest();
  channel_->on_idle_closed(*this);
  close();
}

void Connection::close() {
  state_ = State::closed;
  channel_ = nullptr;
  IoError ignored;
  attempt_timer_.cancel();
  socket_.close(ignored);
}

}  // namespace penstock::sink
