#include "sink/http/channel.h"

#include <algorithm>
#include <latch>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "sink/http/connection.h"

namespace penstock::sink {
namespace {

// Behind the connections. Callers keep to the concurrency themselves, so this is for their bugs.
constexpr std::size_t kWaitingMax = 10'000;
// Many servers close after 5 s of rest; a request that meets that close is a failed attempt.
constexpr Micros kIdleMax = Seconds{4};
// A host that moves is followed after this, however busy its old address is.
constexpr Micros kAgeMax = Seconds{60};
// New connections within this ask no name server again.
constexpr Micros kAddressesKept = Seconds{10};

SinkAnswer failed_post(std::string why) {
  return {.outcome = SinkOutcome::failed, .detail = std::move(why)};
}

SinkAnswer stopping() { return failed_post("this node stops"); }

}  // namespace

Channel::Channel(Loop& loop, wire::HttpUrl url, const HttpSettings& settings, WebhookSigner signer)
    : loop_(loop),
      url_(std::move(url)),
      timeout_(settings.timeout),
      connections_max_(static_cast<std::size_t>(settings.concurrency)),
      writer_(url_, loop.options().user_agent, std::move(signer)),
      timer_(loop.context()) {}

void Channel::send(Handover&& item, Sink::Done&& done) {
  CallList one;
  one.push_back({.item = std::move(item), .done = std::move(done)});
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (!closed_) {
      const Micros now = loop_.now();
      one.front().deadline = now + timeout_;
      if (const auto patience = one.front().item.patience) one.front().send_by = now + *patience;
      wake = inbox_.empty();
      inbox_.splice(inbox_.end(), one);
    }
  }
  if (!one.empty()) return one.front().done(stopping());
  if (wake) boost::asio::post(loop_.context(), [self = shared_from_this()] { self->drain(); });
}

void Channel::drain() {
  CallList fresh;
  {
    const std::lock_guard lock(mutex_);
    fresh.swap(inbox_);
  }
  while (!fresh.empty()) {
    const CallRef call = fresh.begin();
    calls_.splice(calls_.end(), fresh, call);
    start(call);
  }
  if (!calls_.empty()) wake_at(calls_.front().deadline);
}

void Channel::start(CallRef call) {
  while (!idle_.empty()) {
    const std::shared_ptr<Connection> connection = std::move(idle_.back());
    idle_.pop_back();
    if (connection->is_usable()) {
      call->connection = connection;
      return connection->send(call);
    }
    connection->close();
    --connections_;
  }
  if (connections_ < connections_max_) return start_on_new_connection(call);
  if (waiting_.size() < kWaitingMax) return waiting_.push_back(call);
  answer(call, {.outcome = SinkOutcome::slow_down, .detail = "too many hand-overs wait"});
}

void Channel::start_on_new_connection(CallRef call) {
  ++connections_;
  const auto connection = std::make_shared<Connection>(*this);
  call->connection = connection;
  connection->open(call);
}

void Channel::repeat(CallRef call) {
  --connections_;
  call->repeated = true;
  start_on_new_connection(call);
}

void Channel::finish(CallRef call, SinkAnswer&& result, Connection* reusable) {
  call->connection.reset();
  if (reusable != nullptr) {
    release(*reusable);
  } else {
    --connections_;
    start_waiting();
  }
  answer(call, std::move(result));
}

void Channel::give_back(CallRef call) {
  // Later, since whoever gave the connection its call is not ready for another. The answer waits
  // for that, too: a call that follows it at once must find the connection free.
  late_.splice(late_.end(), calls_, call);
  boost::asio::post(loop_.context(), [self = shared_from_this()] { self->free_late(); });
}

void Channel::free_late() {
  if (late_.empty()) return;  // closed meanwhile
  CallList one;
  one.splice(one.begin(), late_, late_.begin());
  Call& call = one.front();
  const std::shared_ptr<Connection> connection = std::move(call.connection);
  if (connection->is_usable()) {
    release(*connection);
  } else {
    connection->close();
    --connections_;
    start_waiting();
  }
  call.done({.outcome = SinkOutcome::late, .detail = {}, .unsent = std::move(call.item)});
}

void Channel::answer(CallRef call, SinkAnswer&& result) {
  Sink::Done done = std::move(call->done);
  calls_.erase(call);
  done(std::move(result));
}

void Channel::release(Connection& connection) {
  const Micros now = loop_.now();
  if (now - connection.born_at() > kAgeMax) {
    connection.close();
    --connections_;
    return start_waiting();
  }
  if (!waiting_.empty() && connection.is_usable()) {
    const CallRef next = waiting_.front();
    waiting_.pop_front();
    next->connection = connection.shared_from_this();
    return connection.send(next);
  }
  connection.idle_since = now;
  idle_.push_back(connection.shared_from_this());
  connection.rest();
  wake_at(idle_.front()->idle_since + kIdleMax);
  start_waiting();
}

void Channel::start_waiting() {
  if (waiting_.empty()) return;
  const CallRef next = waiting_.front();
  waiting_.pop_front();
  start(next);
}

void Channel::on_idle_closed(const Connection& connection) {
  const auto removed = std::erase_if(
      idle_, [&](const std::shared_ptr<Connection>& each) { return each.get() == &connection; });
  connections_ -= removed;
}

void Channel::find_addresses(const std::shared_ptr<Connection>& connection) {
  IoError not_numeric;
  const auto address = boost::asio::ip::make_address(url_.host, not_numeric);
  if (!not_numeric) return connection->connect_to({Tcp::endpoint(address, url_.port)});
  if (!addresses_.empty() && loop_.now() < addresses_until_) {
    return connection->connect_to(addresses_);
  }
  want_addresses_.push_back(connection);
  if (std::exchange(resolving_, true)) return;
  loop_.resolve(url_.host, url_.port, [self = shared_from_this()](Result<Loop::Addresses>&& found) {
    self->resolving_ = false;
    if (found) {
      self->addresses_ = *found;
      self->addresses_until_ = self->loop_.now() + kAddressesKept;
    }
    for (const auto& each : std::exchange(self->want_addresses_, {})) {
      if (found) {
        each->connect_to(*found);
      } else {
        each->fail(fmt::format("cannot resolve {}: {}", self->url_.host, found.error().what));
      }
    }
  });
}

void Channel::on_connected(const Tcp::endpoint& address) {
  const auto found = std::ranges::find(addresses_, address);
  if (found != addresses_.end()) std::rotate(addresses_.begin(), found, found + 1);
}

void Channel::wake_at(Micros at) {
  if (at >= wake_at_) return;
  wake_at_ = at;
  timer_.expires_after(std::max(at - loop_.now(), Micros{0}));
  timer_.async_wait([self = shared_from_this()](const IoError& error) {
    if (!error) self->on_time();
  });
}

void Channel::on_time() {
  wake_at_ = Micros::max();
  const Micros now = loop_.now();
  while (!calls_.empty() && calls_.front().deadline <= now) expire(calls_.begin());
  while (!idle_.empty() && idle_.front()->idle_since + kIdleMax <= now) {
    idle_.front()->close();
    idle_.erase(idle_.begin());
    --connections_;
  }
  if (!calls_.empty()) wake_at(calls_.front().deadline);
  if (!idle_.empty()) wake_at(idle_.front()->idle_since + kIdleMax);
}

void Channel::expire(CallRef call) {
  if (const std::shared_ptr<Connection> connection = call->connection) {
    return connection->expire(timeout_);
  }
  std::erase(waiting_, call);
  answer(call, failed_post(fmt::format("timed out after {} ms, waiting for a connection",
                                       timeout_.count())));
}

void Channel::close() {
  PENSTOCK_CHECK(!loop_.is_this_thread());
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  std::latch closed(1);
  boost::asio::post(loop_.context(), [this, &closed] {
    close_on_loop();
    closed.count_down();
  });
  closed.wait();
}

void Channel::close_on_loop() {
  timer_.cancel();
  {
    const std::lock_guard lock(mutex_);
    calls_.splice(calls_.end(), inbox_);
  }
  waiting_.clear();
  want_addresses_.clear();
  for (const auto& connection : std::exchange(idle_, {})) connection->close();
  calls_.splice(calls_.end(), late_);
  while (!calls_.empty()) {
    const CallRef call = calls_.begin();
    if (call->connection) call->connection->close();
    answer(call, stopping());
  }
}

}  // namespace penstock::sink
