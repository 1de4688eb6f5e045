#include "tool/bench/worker.h"

#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include "base/check.h"
#include "runtime/tick_clock.h"

namespace penstock::tool::bench {
namespace {

constexpr std::size_t kBufferBytes = 256 * 1024;  // an answer to a batch of 1,000 in one go
constexpr int kEventsMax = 256;
constexpr Micros kLookEvery = Millis{100};   // time-outs and reconnects need no more
constexpr Micros kConnectFor = Seconds{5};   // then it goes on with those that are there
constexpr Micros kLastAnswers = Seconds{5};  // a longer wait says nothing new
constexpr Micros kAfterInterrupt = Millis{500};

}  // namespace

Worker::Worker(const Plan& plan, std::size_t index, const std::atomic<bool>& stop, LiveCounts& live)
    : plan_(plan),
      stop_(stop),
      live_(live),
      maker_(plan.request, plan.keys, plan.seed, index),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      buffer_(kBufferBytes) {
  PENSTOCK_CHECK(epoll_ >= 0);
  const std::size_t count = plan.share(plan.connections, index);
  for (std::size_t i = 0; i < count; ++i) {
    connections_.push_back(std::make_unique<Connection>(plan));
  }
  ready_.resize(count);
  dirty_.reserve(count);
  limit_ = plan.requests == 0 ? std::numeric_limits<std::uint64_t>::max()
                              : plan.share(plan.requests, index);
  if (plan.rate > 0) {
    schedule_.emplace(plan.rate, index, plan.threads);
    limit_ = std::min(limit_, schedule_->count_before(plan.duration));
  }
}

Worker::~Worker() { ::close(epoll_); }

void Worker::connect_all() {
  // The kernel may else let a timer wait 50 us longer, to wake up for several at once.
  ::prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
  const Micros began = runtime::tick_micros();
  for (std::size_t i = 0; i < connections_.size(); ++i) connect(i, began);
  const auto connecting = [](const std::unique_ptr<Connection>& each) {
    return each->state() == Connection::State::connecting;
  };
  while (std::ranges::any_of(connections_, connecting) && !stop_.load(std::memory_order_relaxed) &&
         runtime::tick_micros() - began < kConnectFor) {
    wait(kLookEvery);
  }
}

void Worker::run(Micros start) {
  start_ = start;
  end_ = start + plan_.duration;
  next_look_ = start;
  sending_ = true;
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    if (connections_[i]->state() != Connection::State::open) continue;
    if (schedule_) {
      list_ready(i);
    } else {
      fill(*connections_[i], start);
      flush(i);
    }
  }
  for (;;) {
    const Micros now = runtime::tick_micros();
    if (sending_ && is_done_sending(now)) stop_sending(now);
    if (!sending_ && (sent_ == tally_.answers + given_up_ || now >= give_up_at_))
      return finish(now);
    if (schedule_) pump(now);
    if (now >= next_look_) look_after(now);
    wait(next_wake(now));
    live_.answers.store(tally_.answers, std::memory_order_relaxed);
    live_.errors.store(tally_.errors(), std::memory_order_relaxed);
  }
}

bool Worker::is_done_sending(Micros now) const noexcept {
  return now >= end_ || sent_ == limit_ || stop_.load(std::memory_order_relaxed);
}

void Worker::stop_sending(Micros now) {
  sending_ = false;
  ended_ = std::min(now, end_);
  const bool interrupted = stop_.load(std::memory_order_relaxed);
  give_up_at_ = now + (interrupted ? kAfterInterrupt : std::min(plan_.timeout, kLastAnswers));
  if (!schedule_) return;
  // What was due by now and found no connection free waited all the same.
  const std::uint64_t due = std::min(limit_, schedule_->count_before(ended_ - start_));
  for (std::uint64_t i = sent_; i < due; ++i) {
    tally_.latencies.record(now - (start_ + schedule_->due(i)));
    ++tally_.unsent;
  }
}

void Worker::finish(Micros now) {
  for (const std::unique_ptr<Connection>& each : connections_) {
    tally_.unfinished += each->give_up_all(now, tally_);
    each->close();
  }
  live_.answers.store(tally_.answers, std::memory_order_relaxed);
  live_.errors.store(tally_.errors(), std::memory_order_relaxed);
}

void Worker::watch(std::size_t index) {
  Connection& connection = *connections_[index];
  const bool out =
      connection.state() == Connection::State::connecting || connection.wants_to_write();
  const std::uint32_t wanted = EPOLLIN | (out ? EPOLLOUT : 0U);
  if (wanted == connection.watched) return;
  epoll_event event{};
  event.events = wanted;
  event.data.u64 = index;
  const int operation = connection.watched == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  PENSTOCK_CHECK(::epoll_ctl(epoll_, operation, connection.fd(), &event) == 0);
  connection.watched = wanted;
}

void Worker::connect(std::size_t index, Micros now) {
  Connection& connection = *connections_[index];
  if (connection.connect(now)) return watch(index);
  ++tally_.connect_errors;
  connection.retry_at = now + kLookEvery;
}

// Closes; whoever has to be there again is connected by look_after().
void Worker::broken(std::size_t index, Connection::Outcome outcome) {
  Connection& connection = *connections_[index];
  const Micros now = runtime::tick_micros();
  const bool was_open = connection.state() == Connection::State::open;
  connection.close();  // and out of epoll
  const std::size_t lost = connection.give_up_all(now, tally_);
  given_up_ += lost;
  connection.retry_at = now + kLookEvery;
  if (!was_open) {
    ++tally_.connect_errors;
  } else if (outcome == Connection::Outcome::malformed) {
    ++tally_.malformed;
    tally_.lost += lost > 0 ? lost - 1 : 0;
    // Nobody here speaks the protocol, or the password is wrong: that will not change.
    if (tally_.answers == 0 && sending_) stop_sending(now);
  } else {
    tally_.lost += lost;
    if (outcome == Connection::Outcome::ended && sending_) connect(index, now);
  }
}

void Worker::handle(std::size_t index, std::uint32_t events) {
  Connection& connection = *connections_[index];
  if (connection.state() == Connection::State::closed) return;  // by an event before this one
  const Micros now = runtime::tick_micros();
  if (connection.state() == Connection::State::connecting) {
    if (!connection.finish_connect(now)) return broken(index, Connection::Outcome::lost);
    opened(index, now);
    return;
  }
  if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0) {
    const Connection::Outcome outcome = connection.receive(buffer_, now, tally_);
    if (outcome != Connection::Outcome::fine) return broken(index, outcome);
    answered(index, now);
  }
  if ((events & EPOLLOUT) != 0 && connection.wants_to_write()) flush(index);
}

void Worker::opened(std::size_t index, Micros now) {
  if (sending_) {
    if (schedule_) {
      list_ready(index);
    } else {
      fill(*connections_[index], now);
    }
  }
  flush(index);
}

void Worker::answered(std::size_t index, Micros now) {
  ended_ = std::max(ended_, now);
  if (!sending_) return;
  if (schedule_) return list_ready(index);
  fill(*connections_[index], now);
  flush(index);
}

void Worker::flush(std::size_t index) {
  const Connection::Outcome outcome = connections_[index]->flush(tally_);
  if (outcome != Connection::Outcome::fine) return broken(index, outcome);
  watch(index);
}

void Worker::fill(Connection& connection, Micros now) {
  while (connection.has_room() && sent_ < limit_) {
    connection.put(maker_, now, now);
    ++sent_;
  }
}

void Worker::list_ready(std::size_t index) {
  Connection& connection = *connections_[index];
  if (connection.is_ready_listed || !connection.has_room()) return;
  connection.is_ready_listed = true;
  ready_[(ready_first_ + ready_count_++) % ready_.size()] = index;
}

// Sends what is due, as far as there are connections for it.
void Worker::pump(Micros now) {
  while (sending_ && sent_ < limit_ && ready_count_ > 0) {
    const Micros due = start_ + schedule_->due(sent_);
    if (due > now) break;
    const std::size_t index = ready_[ready_first_];
    ready_first_ = (ready_first_ + 1) % ready_.size();
    --ready_count_;
    Connection& connection = *connections_[index];
    connection.is_ready_listed = false;
    if (!connection.has_room()) continue;  // closed meanwhile
    connection.put(maker_, due, now);
    ++sent_;
    list_ready(index);
    if (!connection.is_dirty) {
      connection.is_dirty = true;
      dirty_.push_back(index);
    }
  }
  for (const std::size_t index : dirty_) {
    connections_[index]->is_dirty = false;
    if (connections_[index]->state() == Connection::State::open) flush(index);
  }
  dirty_.clear();
}

// Time-outs, and connections that have to be made again.
void Worker::look_after(Micros now) {
  next_look_ = now + kLookEvery;
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    Connection& connection = *connections_[i];
    if (connection.state() == Connection::State::closed) {
      if (sending_ && now >= connection.retry_at) connect(i, now);
      continue;
    }
    const bool waits =
        connection.state() == Connection::State::connecting || connection.in_flight() > 0;
    if (!waits || now - connection.waiting_since() < plan_.timeout) continue;
    const std::uint64_t lost = tally_.lost;
    broken(i, Connection::Outcome::lost);
    tally_.timed_out += tally_.lost - lost;
    tally_.lost = lost;
  }
}

Micros Worker::next_wake(Micros now) const noexcept {
  Micros until = std::min(next_look_, sending_ ? end_ : give_up_at_);
  if (schedule_ && sending_ && ready_count_ > 0 && sent_ < limit_) {
    until = std::min(until, start_ + schedule_->due(sent_));
  }
  return std::max(Micros::zero(), until - now);
}

void Worker::wait(Micros timeout) {
  std::array<epoll_event, kEventsMax> events;
  const timespec limit{.tv_sec = timeout.count() / 1'000'000,
                       .tv_nsec = timeout.count() % 1'000'000 * 1'000};
  int count = ::epoll_pwait2(epoll_, events.data(), kEventsMax, &limit, nullptr);
  if (count < 0 && errno == ENOSYS) {  // before Linux 5.11: to the millisecond
    count = ::epoll_wait(epoll_, events.data(), kEventsMax,
                         static_cast<int>((timeout.count() + 999) / 1'000));
  }
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    handle(events[at].data.u64, events[at].events);
  }
}

}  // namespace penstock::tool::bench
