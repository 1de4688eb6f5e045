#include "sink/smpp/smpp_sink.h"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <optional>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "runtime/clocks.h"
#include "runtime/threads.h"
#include "sink/smpp/mailbox.h"
#include "sink/smpp/messenger.h"
#include "sink/smpp/session.h"
#include "sink/smpp/socket.h"
#include "wire/smpp_receipt.h"

namespace penstock::sink {
namespace {

constexpr Micros kConnectWithin = Seconds{5};  // each address
constexpr Micros kUnbindWithin = Seconds{1};
constexpr Micros kLookEvery = Seconds{60};  // at the latest, whatever happens
// While receipts wait to be written, no more are read: the provider keeps them.
constexpr std::size_t kReceiptsWaitingMax = 1'000;

}  // namespace

// Everything that the sink's thread does.
class SmppSink::Line {
 public:
  Line(SmppClient& client, std::shared_ptr<SmppMailbox> mailbox, const SmppSettings& settings)
      : client_(client),
        mailbox_(std::move(mailbox)),
        settings_(settings),
        // References of one provider stay good when its port changes or a proxy comes in between.
        provider_(settings.system_id + "@" + settings.host),
        place_(fmt::format("{}:{}", provider_, settings.port)),
        messenger_(
            settings,
            [this](const ItemId& id, std::vector<std::string> references, Sink::Done done) {
              on_taken(id, std::move(references), std::move(done));
            },
            [this](SinkOutcome outcome) { count(outcome); }),
        chance_(client.options_.seed ^ mix64(reinterpret_cast<std::uintptr_t>(this))),
        number_(client.add_session(place_ + " is not bound yet")) {}
  ~Line() { client_.remove_session(number_); }

  void run() {
    runtime::set_thread_name("sink-smpp");
    // Signals are the main thread's.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    while (!closed_) {
      if (state_ == State::resting && now() >= retry_at_) resolve();
      wait();
      take_mail();
      if (state_ == State::connecting) go_on_connecting();
      if (state_ == State::open) exchange();
      messenger_.on_time(session_ ? &*session_ : nullptr, now());
    }
    say_goodbye();
    messenger_.close();
  }

 private:
  enum class State : std::uint8_t { resting, resolving, connecting, open };

  Micros now() const noexcept {
    return std::chrono::duration_cast<Micros>(std::chrono::duration<double>(since_.seconds()));
  }

  // Until something is to be done or the time for it has come.
  void wait() {
    Micros until = std::min(now() + kLookEvery, messenger_.wake_at());
    if (state_ == State::resting) until = std::min(until, retry_at_);
    if (state_ == State::connecting) until = std::min(until, connect_by_);
    if (session_) until = std::min(until, session_->wake_at());
    std::array<pollfd, 2> fds{};
    fds[0] = {.fd = mailbox_->fd(), .events = POLLIN, .revents = 0};
    fds[1] = {.fd = -1, .events = 0, .revents = 0};
    if (state_ == State::connecting || state_ == State::open) {
      const bool writes = state_ == State::connecting || !output_.empty();
      const bool reads = state_ == State::open && receipts_waiting_ < kReceiptsWaitingMax;
      fds[1] = {.fd = socket_.fd(),
                .events = static_cast<short>((writes ? POLLOUT : 0) | (reads ? POLLIN : 0)),
                .revents = 0};
    }
    const auto left = std::chrono::ceil<Millis>(std::max(until - now(), Micros{0}));
    ::poll(fds.data(), fds.size(), static_cast<int>(left.count()));
    ready_ = fds[1].revents;
  }

  void take_mail() {
    SmppMailbox::Mail mail = mailbox_->take();
    closed_ = mail.closed;
    if (mail.addresses && state_ == State::resolving) on_resolved(std::move(*mail.addresses));
    for (const SmppMailbox::Kept& each : mail.kept) {
      if (each.session != session_number_) continue;
      --receipts_waiting_;
      if (session_) {
        session_->answer_delivery(each.sequence, each.kept ? wire::kSmppOk : wire::kSmppTryAgain);
      }
    }
    for (SmppMailbox::Letter& letter : mail.letters) {
      if (state_ == State::resting) {
        letter.done({.outcome = SinkOutcome::slow_down, .detail = problem_, .pause = rest_left()});
      } else {
        messenger_.add(std::move(letter.item), std::move(letter.done), now());
      }
    }
  }

  Millis rest_left() const {
    return std::max(Millis{1}, std::chrono::ceil<Millis>(retry_at_ - now()));
  }

  void resolve() {
    state_ = State::resolving;
    runtime::TaskQueue::Task task = [mailbox = mailbox_, host = settings_.host,
                                     port = static_cast<std::uint16_t>(settings_.port),
                                     only_public = client_.options_.refuse_private_addresses] {
      mailbox->put(resolve_host(host, port, only_public));
    };
    if (!client_.resolver_.submit(std::move(task))) {
      lose("too many names are being resolved");
    }
  }

  void on_resolved(Result<std::vector<SocketAddress>>&& addresses) {
    if (!addresses) return lose(addresses.error().what);
    addresses_ = std::move(*addresses);
    std::ranges::reverse(addresses_);  // the next one last
    connect_next("");
  }

  void connect_next(const std::string& why) {
    std::string last = why;
    while (!addresses_.empty()) {
      const SocketAddress address = addresses_.back();
      addresses_.pop_back();
      const Result<void> begun = socket_.connect(address);
      if (begun) {
        state_ = State::connecting;
        connect_by_ = now() + kConnectWithin;
        return;
      }
      last = begun.error().what;
    }
    lose("cannot connect: " + last);
  }

  void go_on_connecting() {
    if (ready_ == 0) {
      if (now() >= connect_by_) connect_next("no answer");
      return;
    }
    if (const Result<void> done = socket_.finish_connect(); !done) {
      return connect_next(done.error().what);
    }
    state_ = State::open;
    ready_ = 0;
    ++session_number_;
    receipts_waiting_ = 0;
    was_bound_ = false;
    session_.emplace(
        SessionOptions{.bind = {.system_id = settings_.system_id,
                                .password = settings_.password,
                                .system_type = settings_.system_type},
                       .window = static_cast<std::size_t>(settings_.concurrency),
                       .answer_within = std::min<Micros>(settings_.timeout, Seconds{10}),
                       .look_after = client_.options_.look_after},
        now());
  }

  void exchange() {
    if ((ready_ & (POLLIN | POLLERR | POLLHUP)) != 0) {
      const Result<std::string_view> read = socket_.read();
      if (!read) return lose(read.error().what);
      session_->on_bytes(*read, now());
    }
    session_->on_time(now());
    if (session_->is_bound() && !was_bound_) on_bound();
    take_deliveries();
    messenger_.take_answers(*session_, now());
    if (!write()) return;
    if (const std::optional<std::string> end = session_->end()) lose(*end);
  }

  // False: the connection is lost.
  bool write() {
    output_ += session_->take_output();
    while (!output_.empty()) {
      const Result<std::size_t> written = socket_.write(output_);
      if (!written) {
        lose(written.error().what);
        return false;
      }
      if (*written == 0) return true;
      output_.erase(0, *written);
    }
    return true;
  }

  void on_bound() {
    was_bound_ = true;
    failures_ = 0;
    client_.counters_.binds.add();
    client_.set_session(number_, "");
    client_.log_.info("smpp.bound", {{"provider", place_}});
    warned_ = false;
  }

  void take_deliveries() {
    for (SmppSession::Delivered& each : session_->take_delivered()) {
      std::optional<wire::SmppReceipt> receipt = wire::read_smpp_receipt(each.message);
      if (!receipt || client_.book_ == nullptr) {
        client_.counters_.ignored.add();
        session_->answer_delivery(each.sequence, wire::kSmppOk);
        continue;
      }
      ++receipts_waiting_;
      client_.book_->note_receipt(
          {.provider = provider_,
           .reference = name_of(std::move(receipt->reference), false),
           .state = receipt->state,
           .detail = std::move(receipt->detail)},
          [mailbox = mailbox_, session = session_number_, sequence = each.sequence,
           counter = &client_.counters_.receipts](bool kept) {
            if (kept) counter->add();
            mailbox->put(SmppMailbox::Kept{.session = session, .sequence = sequence, .kept = kept});
          });
    }
  }

  // How a message is called by both, an answer (`of_answer`) and a receipt.
  std::string name_of(std::string&& reference, bool of_answer) const {
    if (settings_.receipt_ids == ReceiptIds::same) return std::move(reference);
    const bool decimal = (settings_.receipt_ids == ReceiptIds::hex) == of_answer;
    return wire::plain_reference(reference, decimal ? 10 : 16);
  }

  // The message is on its way; where its receipts belong is written down before that is said, so
  // that whoever sees it as sent will see what becomes of it.
  void on_taken(const ItemId& id, std::vector<std::string> references, Sink::Done done) {
    SinkAnswer answer{
        .outcome = SinkOutcome::done,
        .detail = fmt::format(
            "taken as {}{}", references.front(),
            references.size() > 1 ? fmt::format(" and {} more", references.size() - 1) : "")};
    const bool named = std::ranges::any_of(references, [](const auto& r) { return !r.empty(); });
    if (!named) answer.detail = "taken";
    if (!named || !settings_.receipts || client_.book_ == nullptr) return done(std::move(answer));
    for (std::string& each : references) each = name_of(std::move(each), true);
    mailbox_->begin_answer();
    client_.book_->note_taken(
        {.provider = provider_, .message = id, .references = std::move(references)},
        [mailbox = mailbox_, done = std::move(done), answer = std::move(answer)](bool) mutable {
          // It was sent, whether or not somebody will know what became of it.
          done(std::move(answer));
          mailbox->end_answer();
        });
  }

  void count(SinkOutcome outcome) {
    switch (outcome) {
      case SinkOutcome::done:
        return client_.counters_.accepted.add();
      case SinkOutcome::slow_down:
        return client_.counters_.throttled.add();
      case SinkOutcome::refused:
        return client_.counters_.refused.add();
      case SinkOutcome::failed:
      case SinkOutcome::late:
        return client_.counters_.failed.add();
    }
  }

  // There is no session for now. `why` must not be the session's: that goes.
  void lose(const std::string& why) {
    socket_.close();
    session_.reset();
    output_.clear();
    state_ = State::resting;
    const Millis step = std::min(client_.options_.retry_most,
                                 client_.options_.retry_first * (1 << std::min(failures_++, 10)));
    retry_at_ = now() + Millis{chance_.between(step.count() / 2, step.count())};
    problem_ = fmt::format("{}: {}", place_, why);
    client_.set_session(number_, problem_);
    if (!warned_) client_.log_.warn("smpp.unbound", {{"provider", place_}, {"error", why}});
    warned_ = true;
    messenger_.on_lost(problem_, rest_left());
  }

  void say_goodbye() {
    if (state_ != State::open || !session_->is_bound()) return;
    session_->unbind(now());
    const Micros until = now() + kUnbindWithin;
    while (state_ == State::open && !session_->end() && now() < until) {
      if (!write()) return;
      pollfd fd{.fd = socket_.fd(),
                .events = static_cast<short>(POLLIN | (output_.empty() ? 0 : POLLOUT)),
                .revents = 0};
      ::poll(&fd, 1, static_cast<int>(std::chrono::ceil<Millis>(until - now()).count()));
      const Result<std::string_view> read = socket_.read();
      if (!read) return;
      session_->on_bytes(*read, now());
    }
  }

  SmppClient& client_;
  const std::shared_ptr<SmppMailbox> mailbox_;
  const SmppSettings settings_;
  const std::string provider_;
  const std::string place_;
  SmppMessenger messenger_;
  Rng chance_;
  const std::size_t number_;  // the client's, of this session
  const runtime::Stopwatch since_;

  State state_ = State::resting;
  bool closed_ = false;
  bool warned_ = false;  // once per outage
  bool was_bound_ = false;
  std::string problem_ = "not bound yet";
  Micros retry_at_{0};
  int failures_ = 0;
  std::vector<SocketAddress> addresses_;
  Micros connect_by_{0};
  Socket socket_;
  short ready_ = 0;
  std::optional<SmppSession> session_;
  std::uint64_t session_number_ = 0;
  std::size_t receipts_waiting_ = 0;
  std::string output_;
};

SmppSink::SmppSink(SmppClient& client, const SmppSettings& settings)
    : client_(client),
      mailbox_(std::make_shared<SmppMailbox>()),
      line_(std::make_unique<Line>(client, mailbox_, settings)),
      thread_([this] { line_->run(); }) {}

SmppSink::~SmppSink() {
  mailbox_->close();
  thread_.join();
  for (SmppMailbox::Letter& letter : mailbox_->take().letters) {
    letter.done({.outcome = SinkOutcome::failed, .detail = "this node stops"});
  }
  mailbox_->wait_for_answers();
}

void SmppSink::send(Handover&& item, Done done) {
  SmppMailbox::Letter letter{.item = std::move(item), .done = std::move(done)};
  if (mailbox_->put(std::move(letter))) return;
  // NOLINTNEXTLINE(bugprone-use-after-move): a closed mailbox has taken nothing.
  letter.done({.outcome = SinkOutcome::failed, .detail = "this node stops"});
}

}  // namespace penstock::sink
