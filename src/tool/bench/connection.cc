#include "tool/bench/connection.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace penstock::tool::bench {

Connection::Connection(const Plan& plan) : plan_(plan), due_(plan.pipeline) {
  out_.reserve(plan.hello.size() + plan.request.bytes.size() * plan.pipeline);
}

bool Connection::connect(Micros now) {
  close();
  fd_ = open_socket(plan_.target);
  if (fd_ < 0) return false;
  state_ = State::connecting;
  waiting_since_ = now;
  if (plan_.protocol == Protocol::http) {
    reader_ = std::make_unique<HttpAnswers>(plan_.request.good_entry);
  } else {
    reader_ = std::make_unique<RespAnswers>(plan_.hello.empty() ? 0 : 1);
  }
  out_ = plan_.hello;
  sent_ = 0;
  kept_.clear();
  return true;
}

bool Connection::finish_connect(Micros now) {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) return false;
  state_ = State::open;
  waiting_since_ = now;
  return true;
}

void Connection::close() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  state_ = State::closed;
  watched = 0;
}

void Connection::put(RequestMaker& maker, Micros due, Micros now) {
  PENSTOCK_CHECK(has_room());
  if (sent_ == out_.size()) {
    out_.clear();
    sent_ = 0;
  }
  maker.append_to(out_);
  if (in_flight_ == 0) waiting_since_ = now;
  std::size_t at = oldest_ + in_flight_;
  if (at >= due_.size()) at -= due_.size();
  due_[at] = due;
  ++in_flight_;
}

Connection::Outcome Connection::flush(Tally& tally) {
  while (sent_ < out_.size()) {
    const ssize_t sent = ::send(fd_, out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EAGAIN || errno == EWOULDBLOCK) return Outcome::fine;
      if (errno == EINTR) continue;
      return Outcome::lost;
    }
    sent_ += static_cast<std::size_t>(sent);
    tally.bytes_sent += static_cast<std::uint64_t>(sent);
  }
  return Outcome::fine;
}

void Connection::count_answer(Micros now, Tally& tally) {
  tally.latencies.record(now - due_[oldest_]);
  if (++oldest_ == due_.size()) oldest_ = 0;
  --in_flight_;
  ++tally.answers;
  const int code = reader_->code();
  ++tally.codes[static_cast<std::size_t>(code)];
  tally.good_entries += reader_->good_entries();
  const bool is_problem =
      plan_.protocol == Protocol::http ? code >= 300 && code != 429 : code >= kRespError;
  if (is_problem && tally.first_problem_code == 0 && tally.first_problem.empty()) {
    tally.first_problem = reader_->problem();
    tally.first_problem_code = code;
  }
}

Connection::Outcome Connection::read_answers(std::span<char> bytes, std::size_t& used, Micros now,
                                             Tally& tally) {
  while (used < bytes.size()) {
    const Progress progress = reader_->next(bytes.subspan(used));
    used += progress.used;
    if (progress.status == Progress::Status::invalid ||
        (progress.status == Progress::Status::answer && in_flight_ == 0)) {
      if (tally.first_problem.empty()) {
        tally.first_problem = progress.status == Progress::Status::invalid
                                  ? reader_->problem()
                                  : "an answer that nobody asked for";
      }
      return Outcome::malformed;
    }
    if (progress.status == Progress::Status::answer) {
      count_answer(now, tally);
      if (reader_->closes()) return Outcome::ended;
    } else if (progress.used == 0) {
      break;
    }
  }
  return Outcome::fine;
}

Connection::Outcome Connection::receive(std::span<char> buffer, Micros now, Tally& tally) {
  const std::size_t before = kept_.size();
  if (before >= buffer.size()) return Outcome::malformed;  // no answer's beginning is as long
  const ssize_t got = ::recv(fd_, buffer.data() + before, buffer.size() - before, 0);
  if (got < 0) {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? Outcome::fine
                                                                     : Outcome::lost;
  }
  if (got == 0) return in_flight_ == 0 ? Outcome::ended : Outcome::lost;
  std::memcpy(buffer.data(), kept_.data(), before);
  tally.bytes_received += static_cast<std::uint64_t>(got);
  waiting_since_ = now;
  const std::span<char> bytes = buffer.first(before + static_cast<std::size_t>(got));
  std::size_t used = 0;
  const Outcome outcome = read_answers(bytes, used, now, tally);
  kept_.assign(bytes.data() + used, bytes.size() - used);
  return outcome;
}

std::size_t Connection::give_up_all(Micros now, Tally& tally) noexcept {
  const std::size_t given_up = in_flight_;
  for (; in_flight_ > 0; --in_flight_) {
    tally.latencies.record(now - due_[oldest_]);
    if (++oldest_ == due_.size()) oldest_ = 0;
  }
  return given_up;
}

}  // namespace penstock::tool::bench
